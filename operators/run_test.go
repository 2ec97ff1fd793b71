package operators_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// odd is a record whose size is no multiple of 8.
type odd struct{ A, B, C uint32 }

func (o odd) number() uint64 { return uint64(o.A) }

// chainPlan is a chain that is built twice: its input takes records one by one, or in runs.
type chainPlan struct {
	stages []string
	ends   []string
	subs   int
	tight  bool
}

func drawPlan(t *rapid.T) chainPlan {
	stage := rapid.SampledFrom([]string{"map", "try", "filter", "times", "flat", "aggregate", "reduce"})
	end := rapid.SampledFrom([]string{"sink", "forward", "rebalance", "keyed", "custom"})
	return chainPlan{
		stages: rapid.SliceOfN(stage, 0, 4).Draw(t, "stages"), ends: rapid.SliceOfN(end, 1, 3).Draw(t, "ends"),
		subs: rapid.IntRange(1, 5).Draw(t, "receivers"), tight: rapid.Bool().Draw(t, "few buffers"),
	}
}

// built is such a chain.
type built struct {
	t     testing.TB
	ctx   *operators.Context
	ops   []operators.Operator
	pipes []*pipe
	sinks []*seen
	head  operators.Collector[odd]
	marks []*watermark.Maker

	closing []func() // of the pipes
}

func (b *built) close() {
	for _, op := range b.ops {
		if err := op.Close(true); err != nil {
			b.t.Error(err)
		}
	}
	for _, close := range b.closing {
		close()
	}
}

// seen is a sink that keeps what has come, with all that an operator sees of it.
type seen struct {
	ctx *operators.Context
	got []sight
}

type sight struct {
	V    odd
	Time int64
	Has  bool
	Hash uint32
}

func (s *seen) Open(ctx *operators.Context) (operators.Writer[odd], error) {
	s.ctx = ctx
	return s, nil
}
func (s *seen) Flush() error     { return nil }
func (s *seen) Close(bool) error { return nil }
func (s *seen) Write(v odd) error {
	s.got = append(s.got, sight{v, s.ctx.Time, s.ctx.HasTime, s.ctx.Hash})
	return nil
}

func (p chainPlan) build(t *testing.T) *built {
	b := &built{t: t, ctx: &operators.Context{Parallelism: 1, MaxParallel: 16}}
	var ends []operators.Collector[odd]
	for _, end := range p.ends {
		ends = append(ends, b.end(t, p, end))
	}
	b.head = operators.Tee(b.ctx, ends)
	for i := len(p.stages) - 1; i >= 0; i-- {
		b.stage(t, p.stages[i])
	}
	for _, op := range b.ops {
		if err := op.Open(b.ctx); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *built) end(t *testing.T, p chainPlan, end string) operators.Collector[odd] {
	if end == "sink" {
		b.sinks = append(b.sinks, &seen{})
		op := operators.To(operators.Sink[odd](b.sinks[len(b.sinks)-1]))
		b.ops = append(b.ops, op)
		return op
	}
	o := netstack.PartitionOptions{Subpartitions: p.subs}
	if end == "forward" {
		o.Subpartitions = 1
	}
	if p.tight {
		o.Exclusive, o.Floating, o.Overdraft = 1, -1, -1
	}
	pipe, close := newPipeOf(t, b.ctx, o)
	b.pipes, b.closing = append(b.pipes, pipe), append(b.closing, close)
	codec, err := operators.CodecFor[odd]()
	if err != nil {
		t.Fatal(err)
	}
	switch end {
	case "forward":
		return operators.Forward(b.ctx, pipe.out, codec)
	case "rebalance":
		return operators.Rebalance(b.ctx, pipe.out, codec)
	case "keyed":
		keys, _ := operators.CodecFor[uint32]()
		return operators.Keyed(b.ctx, pipe.out, codec, func(v odd) uint32 { return v.A }, operators.HasherFor(keys))
	}
	return operators.Custom(b.ctx, pipe.out, codec, func(v odd, n int) int { return int(v.A) % n })
}

// stage puts an operator in front of the chain.
func (b *built) stage(t *testing.T, name string) {
	next := b.head
	key := func(v odd) uint32 { return v.A % 7 }
	var op operators.Transform[odd]
	var err error
	switch name {
	case "map":
		op = operators.Map(func(v odd) odd { return odd{v.A, v.B + 1, v.C} }, next)
	case "try":
		op = operators.TryMap(func(ctx *operators.Context, v odd) (odd, error) {
			return odd{v.A, v.B, v.C + uint32(ctx.Time) + ctx.Hash}, nil
		}, next)
	case "filter":
		op = operators.Filter(func(v odd) bool { return (v.A+v.B)%3 != 0 }, next)
	case "times":
		timed := operators.Times(func(v odd) int64 { return int64(v.A) }, watermark.Options{Lag: 3, Ends: []watermark.Ends{{Every: 10}}}, next)
		b.marks = append(b.marks, timed.(operators.Watermarker).Maker())
		op = timed
	case "flat":
		op = operators.FlatMap(func(v odd, out operators.Collector[odd]) {
			for i := range v.A % 3 {
				out.Collect(odd{v.A, v.B, i})
			}
		}, next)
	case "aggregate":
		pairs := operators.Map(func(p operators.Pair[uint32, uint64]) odd { return odd{A: p.Key, B: uint32(p.Value)} }, next)
		op, err = operators.Aggregate(key, operators.Aggregator[odd, uint64, uint64]{
			Add: func(n *uint64, v odd) { *n += v.number() }, Result: func(n *uint64) uint64 { return *n },
		}, false, operators.Collector[operators.Pair[uint32, uint64]](pairs))
		b.ops = append(b.ops, pairs)
	case "reduce":
		op, err = operators.Reduce(key, func(a, v odd) odd { return odd{v.A, a.B + v.B, v.C} }, false, next)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.ops = append(b.ops, op)
	b.head = op
}

// result is all that has come of a chain.
type result struct {
	Sinks   [][]sight
	Buffers [][][]byte // by edge and receiver: what has arrived, whole
	Marks   []int64
	Crossed []bool
}

// read reads a buffer as a subtask does: only while all outputs are available.
func (b *built) read(t *rapid.T, in operators.Input, buffer []byte, n int) (r result) {
	for _, p := range b.pipes {
		r.Buffers = append(r.Buffers, make([][]byte, len(p.gates)))
	}
	it := record.Over(buffer)
	for it.Rest() > 0 {
		if !b.ctx.Available() {
			b.take(&r)
			continue
		}
		done, err := in.Records(&it, n)
		if err != nil || b.ctx.Err() != nil {
			t.Fatalf("%v, %v", err, b.ctx.Err())
		}
		if done == 0 { // a mark
			var rec record.Record
			if _, err := it.Next(&rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range b.pipes {
		for b.take(&r); ; b.take(&r) {
			if _, open := p.out.FlushDue(); !open {
				break
			}
			p.out.Flush(0)
		}
	}
	for _, m := range b.marks {
		r.Crossed = append(r.Crossed, m.Crossed())
		mark, _ := m.Look(0)
		r.Marks = append(r.Marks, mark)
	}
	for _, s := range b.sinks {
		r.Sinks = append(r.Sinks, s.got)
	}
	return r
}

func (b *built) take(r *result) {
	for i, p := range b.pipes {
		p.each(func(receiver int, payload []byte) {
			r.Buffers[i][receiver] = append(r.Buffers[i][receiver], payload...)
		})
	}
}

// TestRunsAreWhatTheirRecordsAre: whatever a chain is made of, and however little room there
// is, what its operators see and what it sends are the same bytes, and it never waits in the
// middle of a run.
func TestRunsAreWhatTheirRecordsAre(t *testing.T) {
	codec, err := operators.CodecFor[odd]()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawPlan(rt)
		if plan.tight { // a record of a flat map may need more than there is
			for i, s := range plan.stages {
				if s == "flat" {
					plan.stages[i] = "map"
				}
			}
		}
		var buffer []byte
		for range rapid.IntRange(1, 20).Draw(rt, "runs") {
			r := record.Record{Kind: record.Data, HasTime: rapid.Bool().Draw(rt, "has time")}
			if rapid.IntRange(0, 9).Draw(rt, "mark") == 0 {
				buffer = record.Append(buffer, record.Record{Kind: record.Watermark})
			}
			step := rapid.Uint32Range(0, 5).Draw(rt, "step")
			from := rapid.Uint32Range(0, 1000).Draw(rt, "from")
			for i := range rapid.Uint32Range(1, 150).Draw(rt, "records") {
				if r.Hash = mixed(from + i*step); r.HasTime {
					r.Time = int64(from + i)
				}
				r.Payload = codec.Append(nil, odd{from + i*step, i, from})
				buffer = record.Append(buffer, r)
			}
		}
		n := rapid.IntRange(1, 100).Draw(rt, "at a time")
		single, runs := plan.build(t), plan.build(t)
		want := single.read(rt, operators.NewInput(single.ctx, hidden{codec}, single.head), buffer, n)
		got := runs.read(rt, operators.NewInput(runs.ctx, codec, runs.head), buffer, n)
		single.close()
		runs.close()
		if !reflect.DeepEqual(want, got) { // which is quicker
			rt.Fatal(cmp.Diff(want, got))
		}
	})
}

func mixed(n uint32) uint32 { return n * 2654435769 }

// hidden hides that a codec copies values, so that records go one by one.
type hidden struct{ operators.Codec[odd] }
