package memory

import (
	"sync"

	"github.com/overtake-stream/overtake/operators"
)

// List is a sink that keeps copies of all records in memory, in one subtask on the
// first worker. The zero List is empty and ready. A job that restarts adds records that
// it processes again; Committed does not.
type List[T any] struct {
	mu     sync.Mutex
	values []T
}

// Single implements operators.SingleSink.
func (l *List[T]) Single() {}

// Open implements operators.Sink.
func (l *List[T]) Open(*operators.Context) (operators.Writer[T], error) {
	keep, err := operators.Cloner[T]()
	return &listWriter[T]{list: l, keep: keep}, err
}

// Values returns a copy of the list so far. Any goroutine may call it.
func (l *List[T]) Values() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]T(nil), l.values...)
}

type listWriter[T any] struct {
	list *List[T]
	keep func(T) T
}

// Write implements operators.Writer.
func (w *listWriter[T]) Write(v T) error {
	v = w.keep(v)
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	w.list.values = append(w.list.values, v)
	return nil
}

// Flush implements operators.Writer.
func (w *listWriter[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (w *listWriter[T]) Close(bool) error { return nil }
