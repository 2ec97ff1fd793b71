package sim

import (
	"encoding/binary"
	"slices"

	"github.com/overtake-stream/overtake/operators"
)

// splits is the source of a node.
type splits struct {
	w    *world
	node *node
}

// Open implements operators.Source.
func (s splits) Open(ctx operators.SourceContext) (operators.Reader[rec], error) {
	r := &reader{splits: s, wake: ctx.Wake}
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

type reader struct {
	splits
	begun bool
	wake  func()
	open  []position
}

func (r *reader) over(p position) bool { return p.next >= r.node.lengths[p.split] }

// Read implements operators.Reader.
func (r *reader) Read(out *operators.Output[rec]) (operators.Status, error) {
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
		v := r.w.plan.fresh(uint32(r.node.id*100+p.split), uint32(p.next))
		p.next++
		out.Split(p.number)
		r.open = r.open[1:]
		if !r.over(p) {
			r.open = append(r.open, p)
		}
		out.Collect(v)
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

// Splits implements operators.Reader.
func (r *reader) Splits(dst [][]byte) ([][]byte, error) {
	for _, p := range r.open {
		b := binary.LittleEndian.AppendUint32(nil, uint32(p.split))
		dst = append(dst, binary.LittleEndian.AppendUint32(b, uint32(p.next)))
	}
	return dst, nil
}

// SplitNumbers implements operators.SplitReader.
func (r *reader) SplitNumbers(dst []int) []int {
	for _, p := range r.open {
		dst = append(dst, p.number)
	}
	return dst
}

// Close implements operators.Reader.
func (r *reader) Close() error { return nil }
