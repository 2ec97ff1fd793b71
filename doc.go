// Package overtake embeds a stream-processing data plane in a Go program.
//
// A job is a graph of typed operators between sources and sinks. Each operator
// runs as parallel subtasks. Subtasks exchange records in pooled buffers off the
// Go heap: by reference inside a process, over TCP or Unix sockets between
// processes, and always under credit, so a slow operator slows its sources down
// and nothing is ever dropped. The data plane is made for checkpoints that stay
// short while a job is backpressured: a barrier may overtake the buffers in front
// of it, and the overtaken buffers become part of the checkpoint.
//
// # Use
//
//	job := overtake.NewJob("wordcount", overtake.Options{})
//	lines := overtake.From(job, source)
//	words := overtake.FlatMap(lines, split)
//	counts := overtake.Count(overtake.KeyBy(words, self), overtake.WithUID("counts"))
//	overtake.To(counts, sink)
//	err := job.Run(ctx)
//
// Building a job describes it; nothing is started, mapped or opened before Run or
// Start. Mistakes in the graph and in the options are reported there, all at once.
//
// # Parts
//
// Package operators has the contracts of sources, sinks and codecs, and what runs
// inside a subtask; the names that user code needs are here too, as aliases.
// Package netstack is the exchange between subtasks, on the buffers of package
// bufferpool. Sources and sinks are found below connectors.
//
// # More than one process
//
// Every worker runs the same program with the same job, so user code is not
// shipped. Options.Cluster says where the workers are; each of them runs its share
// of the subtasks, and the first failure on any ends the attempt on all.
//
// # Goroutines and ownership
//
// A running job has one goroutine for each subtask, one for I/O if there are other
// workers, and one that supervises; all have ended, and all buffers are back, when
// Run or Wait returns. User functions of one subtask are never called concurrently.
// A record's strings and byte slices may be views into a buffer: they are valid
// until the function returns.
package overtake
