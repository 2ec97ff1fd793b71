package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/overtake-stream/overtake/operators"
)

// Slice is a source of the given values, which it shares. Subtask i of p reads values
// i, i+p, i+2p … A position is the number of the next value, and p: a job that goes on
// from a checkpoint needs the same values.
func Slice[T any](values ...T) operators.Source[T] { return slice[T](values) }

type slice[T any] []T

// Open implements operators.Source.
func (s slice[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	r := &sliceReader[T]{values: s}
	if !ctx.Restored {
		r.strides = []stride{{next: uint64(ctx.Subtask), step: uint64(ctx.Parallelism)}}
		return r, nil
	}
	for i, position := range ctx.Splits {
		if len(position) != 16 {
			return nil, fmt.Errorf("%w: %d bytes, want 16", errPosition, len(position))
		}
		next, step := binary.LittleEndian.Uint64(position), binary.LittleEndian.Uint64(position[8:])
		if step == 0 || step > math.MaxInt32 || next > uint64(len(s))+step {
			return nil, fmt.Errorf("%w: every %d-th of %d values from %d on", errPosition, step, len(s), next)
		}
		r.strides = append(r.strides, stride{next, step, i})
	}
	return r, nil
}

var errPosition = errors.New("memory: damaged position of a slice, or of another one")

// stride is every step-th value from next on.
type stride struct {
	next, step uint64
	split      int // its number
}

type sliceReader[T any] struct {
	values  []T
	strides []stride
	begun   bool // they have been told of
}

// Read implements operators.Reader.
func (r *sliceReader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	if !r.begun {
		r.begun = true
		for _, s := range r.strides { // those that are read last hold event time, too
			out.BeginSplit(s.split)
		}
	}
	for len(r.strides) > 0 {
		s := &r.strides[0]
		out.Split(s.split)
		for s.next < uint64(len(r.values)) {
			batch, _ := out.Batch()
			if len(batch) == 0 {
				if !out.Ready() {
					return operators.More, nil
				}
				out.Collect(r.values[s.next])
				s.next += s.step
				continue
			}
			n := 0
			for ; n < len(batch) && s.next < uint64(len(r.values)); n++ {
				batch[n] = r.values[s.next]
				s.next += s.step
			}
			out.CollectBatch(n, false)
		}
		out.EndSplit(s.split)
		r.strides = r.strides[1:]
	}
	return operators.Ended, nil
}

// Splits implements operators.Reader.
func (r *sliceReader[T]) Splits(dst [][]byte) ([][]byte, error) {
	for _, s := range r.strides {
		if s.next >= uint64(len(r.values)) {
			continue
		}
		b := binary.LittleEndian.AppendUint64(nil, s.next)
		dst = append(dst, binary.LittleEndian.AppendUint64(b, s.step))
	}
	return dst, nil
}

// SplitNumbers implements operators.SplitReader.
func (r *sliceReader[T]) SplitNumbers(dst []int) []int {
	for _, s := range r.strides {
		if s.next < uint64(len(r.values)) {
			dst = append(dst, s.split)
		}
	}
	return dst
}

// Close implements operators.Reader.
func (r *sliceReader[T]) Close() error { return nil }
