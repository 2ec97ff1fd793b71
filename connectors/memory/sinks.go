package memory

import (
	"sync"

	"github.com/overtake-stream/overtake/operators"
)

// Func is a sink that calls f with every record, from as many goroutines as it has
// subtasks. The value is lent. f may block: the job is then backpressured.
func Func[T any](f func(v T) error) operators.Sink[T] { return fn[T](f) }

type fn[T any] func(v T) error

// Open implements operators.Sink.
func (f fn[T]) Open(*operators.Context) (operators.Writer[T], error) { return f, nil }

// Write implements operators.Writer.
func (f fn[T]) Write(v T) error { return f(v) }

// Flush implements operators.Writer.
func (f fn[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (f fn[T]) Close(bool) error { return nil }

// Discard is a sink that drops every record.
func Discard[T any]() operators.Sink[T] { return fn[T](func(T) error { return nil }) }

// List is a sink that keeps copies of all records in memory, in one subtask on the
// first worker. The zero List is empty and ready.
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
