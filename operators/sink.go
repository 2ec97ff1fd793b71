package operators

// Sink describes where records go. It is shared by all subtasks and starts
// nothing until Open.
type Sink[T any] interface {
	// Open returns the writer of one subtask.
	Open(ctx *Context) (Writer[T], error)
}

// SingleSink is a Sink that has exactly one writer in the whole job, on the first
// worker: one file, standard output, a slice in memory.
type SingleSink interface{ Single() }

// Writer writes one subtask's share. It belongs to the subtask's goroutine.
type Writer[T any] interface {
	// Write takes one record; the value is lent. It may block: then the job is
	// backpressured.
	Write(v T) error
	// Flush makes what was written visible to others, or safe, as far as the sink
	// does so at all. It is called when the subtask has nothing to do.
	Flush() error
	// Close ends the writer. ok says that the input ended: only then may a sink
	// that publishes its output as a whole do so.
	Close(ok bool) error
}

// A TwoPhaseWriter is a Writer whose output becomes visible only when a
// checkpoint that covers it is complete: exactly once, whatever fails.
type TwoPhaseWriter[T any] interface {
	Writer[T]
	// Prepare ends the present transaction: what was written since the last one is
	// made durable, but not visible. It appends a description to dst from which
	// Commit and Abort can work after a crash, in another process; it appends
	// nothing if there is nothing to commit.
	Prepare(dst []byte) ([]byte, error)
	// Commit makes visible what a Prepare described. After a recovery it is called
	// again for what may have been committed before: that must be harmless. It lends
	// prepared.
	Commit(prepared []byte) error
	// Abort removes what a Prepare described. It lends prepared.
	Abort(prepared []byte) error
	// Recovered is called once when the job goes on from a checkpoint, before the first
	// Write, when everything that the checkpoint had prepared is committed: whatever else earlier attempts of the
	// subtasks i, with i modulo Parallelism equal to Subtask, have left is void.
	Recovered() error
}

// A ResumableSink is a Sink whose output can be taken back to what it was at a
// checkpoint, and continued from there.
type ResumableSink[T any] interface {
	Sink[T]
	// Resume returns a writer that goes on from positions that Position gave, those
	// of the subtasks i with i modulo Parallelism equal to Subtask; none means from
	// the beginning. What was written after them is void, and removed.
	Resume(ctx *Context, positions [][]byte) (ResumableWriter[T], error)
}

// A ResumableWriter is the Writer of a ResumableSink.
type ResumableWriter[T any] interface {
	Writer[T]
	// Position makes what was written durable and appends to dst where the output
	// stands.
	Position(dst []byte) ([]byte, error)
}
