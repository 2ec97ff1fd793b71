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
