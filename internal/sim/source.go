package sim

import (
	"encoding/binary"
	"slices"

	"github.com/overtake-stream/overtake/operators"
)

// splits is the source of a node.
type splits[T any] struct {
	w    *world
	node *node
	wire wire[T]
}

// Open implements operators.Source.
func (s splits[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	r := &reader[T]{splits: s, wake: ctx.Wake}
	if !ctx.Restored {
		for i := range s.node.lengths {
			if i%ctx.Parallelism == ctx.Subtask {
				r.open = append(r.open, position{split: i, number: len(r.open)})
			}
		}
	}
	for i, b := range ctx.Splits {
		r.open = append(r.open, position{int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), i})
	}
	r.open = slices.DeleteFunc(r.open, r.over)
	return r, nil
}

// position is the next record of a split.
type position struct {
	split, next int
	number      int // among the reader's
}

type reader[T any] struct {
	splits[T]
	begun bool
	wake  func()
	open  []position
}

func (r *reader[T]) over(p position) bool { return p.next >= r.node.lengths[p.split] }

// Read implements operators.Reader.
func (r *reader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	if !r.begun {
		r.begun = true
		for _, p := range r.open {
			out.BeginSplit(p.number)
		}
	}
	if idle := r.w.plan.idle; idle > 0 && r.w.rand.IntN(idle) == 0 {
		r.w.after(r.w.upTo(r.w.plan.starved/10), r.wake)
		return operators.Idle, nil
	}
	for len(r.open) > 0 && out.Ready() {
		if may := r.w.plan.may; may != nil && !may(r.node, 1) {
			return operators.Idle, nil
		}
		p := r.open[0]
		out.Split(p.number)
		batch, _ := out.Batch()
		if r.w.plan.may != nil {
			batch = nil
		}
		if len(batch) > 0 {
			batch = batch[:min(1+r.w.rand.IntN(len(batch)), r.node.lengths[p.split]-p.next)]
		}
		for i := range batch {
			batch[i] = r.fresh(&p)
		}
		var v T
		if len(batch) == 0 {
			v = r.fresh(&p)
		}
		r.open = r.open[1:]
		if !r.over(p) {
			r.open = append(r.open, p)
		}
		if len(batch) > 0 {
			out.CollectBatch(len(batch), false)
		} else {
			out.Collect(v)
		}
		if r.over(p) {
			out.EndSplit(p.number)
		}
	}
	if len(r.open) > 0 {
		return operators.More, nil
	}
	if may := r.w.plan.may; may != nil && !may(r.node, 0) {
		return operators.Idle, nil
	}
	return operators.Ended, nil
}

// fresh is the next record of a split.
func (r *reader[T]) fresh(p *position) T {
	v := r.w.plan.fresh(uint32(r.node.id*100+p.split), uint32(p.next))
	p.next++
	return r.wire.of(v)
}

// Splits implements operators.Reader.
func (r *reader[T]) Splits(dst [][]byte) ([][]byte, error) {
	for _, p := range r.open {
		b := binary.LittleEndian.AppendUint32(nil, uint32(p.split))
		dst = append(dst, binary.LittleEndian.AppendUint32(b, uint32(p.next)))
	}
	return dst, nil
}

// SplitNumbers implements operators.SplitReader.
func (r *reader[T]) SplitNumbers(dst []int) []int {
	for _, p := range r.open {
		dst = append(dst, p.number)
	}
	return dst
}

// Close implements operators.Reader.
func (r *reader[T]) Close() error { return nil }
