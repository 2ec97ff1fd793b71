package sim

import (
	"strings"

	"github.com/overtake-stream/overtake/operators"
)

// inlet takes what comes from one edge, checks it, and notes on it where it has come by.
func inlet[T any](s *sub, e *edge, w wire[T], next operators.Collector[T]) operators.Collector[T] {
	last := map[uint32]uint64{} // newest Sent by sender
	return &visit[T]{func(v T) T {
		b, world := w.bare(&v), s.a.w
		if w.full(v).Fill != world.plan.fill(b.Split, b.Seq) {
			world.fail("%v: record %d/%d has come with the wrong content", s, b.Split, b.Seq)
		}
		if last := last[b.From]; b.Sent <= last && world.ordered {
			world.fail("%v: record %d/%d has come from %s %d as number %x after %x", s, b.Split, b.Seq, e.from.uid, b.From, b.Sent, last)
		}
		last[b.From] = b.Sent
		b.Path = e.by(b.Path, s.index)
		return v
	}, next}
}

// count is the Processor that numbers the records of each key.
type count struct {
	pad int // bytes, so that the state is large enough for blobs and increments
	n   *operators.ValueState[number]
}

// number is the state of a key.
type number struct {
	N   int64
	Pad string
}

// Open implements operators.Processor.
func (c *count) Open(ctx *operators.KeyedContext) (err error) {
	c.n, err = operators.NewValueState[number](ctx, "n")
	return err
}

// Process implements operators.Processor.
func (c *count) Process(_ uint32, v rec, out operators.Collector[rec]) error {
	n, _, err := c.n.Get()
	if err != nil {
		return err
	}
	v.N = n.N + 1
	out.Collect(v)
	return c.n.Set(number{v.N, strings.Repeat("x", c.pad)})
}

// totals counts each key and tells once, at the end.
func totals[T any](p *Plan, w wire[T], next operators.Collector[rec]) (operators.Transform[T], error) {
	return operators.Aggregate(w.key, operators.Aggregator[T, int64, int64]{
		Add:    func(n *int64, _ T) { *n++ },
		Result: func(n *int64) int64 { return *n },
	}, true, results{p, next})
}

// results makes records of results.
type results struct {
	plan *Plan
	next operators.Collector[rec]
}

// Collect implements operators.Collector.
func (r results) Collect(p operators.Pair[uint32, int64]) {
	r.next.Collect(rec{bare{Split: totalSplit, Seq: p.Key, Key: p.Key, N: p.Value}, r.plan.fill(totalSplit, p.Key)})
}

// totalSplit marks results of totals.
const totalSplit = 1 << 20
