package memory

import (
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
