// Package sim runs a whole job by a seed, with the code that runs in production: the
// subtasks of internal/task, partitions and gates of netstack, the coordinator and barrier
// machines of checkpoint/protocol, and the dealing of internal/recovery. Only the loop
// around the coordinator, the store's faults, the clock and the scheduling are the
// simulation's.
//
// # What a seed decides
//
// The graph, the parallelism, the sizes of buffers and pools, the mode; which subtask
// runs next and for how long it is starved; when commands, acknowledgements and writes of
// snapshots arrive (those of one member in order); what the store loses, refuses or keeps
// without saying so; where the whole job fails, and with which parallelism and mode it
// goes on; savepoints, stops with a savepoint, and when each part of the input ends.
//
// # Oracles
//
//   - Every record reaches the sink's committed output exactly once, by every path that
//     the graph has for it, and each key is counted without a gap; with at-least-once
//     checkpoints, at least once.
//   - Records of one channel arrive in the order in which they were sent.
//   - A subtask that waits is woken: it runs on only when its Parker was notified or its
//     time was due. Somebody can always go on until the job has ended.
//   - Every checkpoint ends; none expires when nothing has gone wrong.
//   - No buffer is held when an attempt has ended.
//   - Latencies are not negative and not longer than their attempt, though every subtask
//     has a clock of its own then; their error is that of the edges that they have crossed.
//
// That the oracles see is a test of its own: captures that lose or repeat one record must
// be found.
//
// # Seeds
//
// A seed that fails prints the line that runs it alone; -sim.trace tells what happens in it.
// -sim.seeds, -sim.from, -sim.scale and -sim.procs choose how many seeds, which, how long the jobs
// are, and how many run at a time; a seed stands for the same run only as long as NewPlan draws the same. What a seed
// has found gets a script of its own, with a rig: a small job that runs step by step.
//
// # Goroutines
//
// One. Subtasks are coroutines, so that one can wait in the middle of a record.
package sim
