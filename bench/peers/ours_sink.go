package peers

import "github.com/overtake-stream/overtake/operators"

// adding is a sink that adds up a check of the records. Each subtask has its own sum.
func adding[T any](t *total, check func(T) uint64) operators.Sink[T] {
	return addingSink[T]{total: t, check: check}
}

type addingSink[T any] struct {
	total *total
	check func(T) uint64
}

// Open implements operators.Sink.
func (s addingSink[T]) Open(*operators.Context) (operators.Writer[T], error) {
	return &addingWriter[T]{addingSink: s}, nil
}

type addingWriter[T any] struct {
	addingSink[T]
	share
}

// Write implements operators.Writer.
func (w *addingWriter[T]) Write(v T) error {
	w.Records++
	w.Check += w.check(v)
	return nil
}

// Flush implements operators.Writer.
func (w *addingWriter[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (w *addingWriter[T]) Close(bool) error { return w.total.add(w.share) }
