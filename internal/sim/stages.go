package sim

import (
	"strings"

	"github.com/overtake-stream/overtake/operators"
)

// collect makes a function a Collector.
type collect func(v rec)

// Collect implements operators.Collector.
func (f collect) Collect(v rec) { f(v) }

// inlet takes what comes from one edge, checks it, and notes on it where it has come by.
type inlet struct {
	s    *sub
	edge *edge
	next operators.Collector[rec]
	last map[uint32]uint64 // newest Sent by sender
}

// Collect implements operators.Collector.
func (in *inlet) Collect(v rec) {
	w := in.s.a.w
	if v.Fill != w.plan.fill(v.Split, v.Seq) {
		w.fail("%v: record %d/%d has come with the wrong content", in.s, v.Split, v.Seq)
	}
	if last := in.last[v.From]; v.Sent <= last && w.ordered {
		w.fail("%v: record %d/%d has come from %s %d as number %x after %x", in.s, v.Split, v.Seq, in.edge.from.uid, v.From, v.Sent, last)
	}
	in.last[v.From] = v.Sent
	v.Path = in.edge.by(v.Path, in.s.index)
	in.next.Collect(v)
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
func totals(p *Plan, next operators.Collector[rec]) (operators.Transform[rec], error) {
	return operators.Aggregate(func(v rec) uint32 { return v.Key }, operators.Aggregator[rec, int64, int64]{
		Add:    func(n *int64, _ rec) { *n++ },
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
	r.next.Collect(rec{Split: totalSplit, Seq: p.Key, Key: p.Key, N: p.Value, Fill: r.plan.fill(totalSplit, p.Key)})
}

// totalSplit marks results of totals.
const totalSplit = 1 << 20
