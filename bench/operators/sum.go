package operators

import (
	"sync/atomic"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/operators"
)

// sum is a sink that adds up what digest gives for each record.
type sum[T any] struct {
	digest func(T) uint64
	total  atomic.Uint64
}

// Open implements operators.Sink.
func (s *sum[T]) Open(*operators.Context) (operators.Writer[T], error) {
	return &summand[T]{digest: s.digest, to: &s.total}, nil
}

var _ overtake.Sink[Event] = (*sum[Event])(nil)

// summand is the share of a subtask.
type summand[T any] struct {
	digest func(T) uint64
	own    uint64
	to     *atomic.Uint64
}

// Write implements operators.Writer.
func (s *summand[T]) Write(v T) error {
	s.own += s.digest(v)
	return nil
}

// Flush implements operators.Writer.
func (s *summand[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (s *summand[T]) Close(bool) error {
	s.to.Add(s.own)
	return nil
}
