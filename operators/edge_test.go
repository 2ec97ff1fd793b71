package operators_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// pipe is an edge from a partition to as many gates as it has receivers, all driven
// by the test's goroutine.
type pipe struct {
	ctx   *operators.Context
	out   *netstack.Partition
	gates []*netstack.Gate
	rec   record.Record
}

func newPipe(t *testing.T, receivers int) *pipe {
	t.Helper()
	p, end := newPipeOf(t, &operators.Context{Parallelism: 1, MaxParallel: 128}, netstack.PartitionOptions{Subpartitions: receivers})
	t.Cleanup(end)
	return p
}

// newPipeOf is newPipe for a partition with options, to be ended by the caller.
func newPipeOf(t *testing.T, ctx *operators.Context, o netstack.PartitionOptions) (p *pipe, end func()) {
	t.Helper()
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: 4096, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	parker := netstack.NewParker()
	p = &pipe{ctx: ctx}
	o.Waker, o.Wait = parker, func() { t.Fatal("would wait") }
	if p.out, err = netstack.NewPartition(arena, o); err != nil {
		t.Fatal(err)
	}
	for i := range o.Subpartitions {
		g, err := netstack.NewGate(netstack.GateOptions{Inputs: []int{1}, Waker: parker})
		if err != nil {
			t.Fatal(err)
		}
		netstack.ConnectLocal(p.out, i, g, 0)
		p.gates = append(p.gates, g)
	}
	return p, func() {
		p.out.Close()
		if err := arena.Close(); err != nil {
			t.Error(err)
		}
	}
}

// drain passes every record that has arrived to f.
func (p *pipe) drain(t *testing.T, f func(receiver int, r *record.Record)) {
	r := &p.rec
	p.each(func(receiver int, payload []byte) {
		for it := record.Over(payload); ; {
			more, err := it.Next(r)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				return
			}
			f(receiver, r)
		}
	})
}

// each lends every buffer that has arrived to f.
func (p *pipe) each(f func(receiver int, payload []byte)) {
	for i, g := range p.gates {
		for item, ok := g.Next(); ok; item, ok = g.Next() {
			f(i, item.Buf.Payload())
			item.Buf.Release()
			g.Done(item.Channel)
		}
	}
}

func TestKeyedEdgeSendsHashAndTimeToTheOwner(t *testing.T) {
	p := newPipe(t, 3)
	codec, _ := operators.CodecFor[uint64]()
	hash := operators.HasherFor(codec)
	edge := operators.Keyed(p.ctx, p.out, codec, func(v uint64) uint64 { return v % 10 }, hash)
	for v := range uint64(100) {
		p.ctx.HasTime, p.ctx.Time = v%2 == 0, int64(v)
		edge.Collect(v)
	}
	p.out.Flush(0)
	seen := 0
	p.drain(t, func(receiver int, r *record.Record) {
		v, err := codec.Decode(r.Payload)
		if err != nil {
			t.Fatal(err)
		}
		want := hash(v % 10)
		owner := operators.GroupOwner(operators.KeyGroup(want, 128), 128, 3)
		if r.Hash != want || receiver != owner || r.HasTime != (v%2 == 0) || (r.HasTime && r.Time != int64(v)) {
			t.Fatalf("%d: %+v at receiver %d, want hash %#x at %d", v, r, receiver, want, owner)
		}
		seen++
	})
	if seen != 100 {
		t.Fatalf("%d records arrived, want 100", seen)
	}
}

func TestEdgesAndInputsAllocateNothingPerRecord(t *testing.T) {
	p := newPipe(t, 4)
	codec, _ := operators.CodecFor[flat]()
	keys, _ := operators.CodecFor[uint64]()
	edge := operators.Keyed(p.ctx, p.out, codec, func(v flat) uint64 { return v.A }, operators.HasherFor(keys))
	var sum adder
	var it record.Iterator
	in := operators.NewInput(p.ctx, codec, operators.Collector[flat](&sum))
	step := func() {
		for i := range uint64(200) {
			edge.Collect(flat{A: i})
		}
		p.out.Flush(0)
		p.each(func(_ int, payload []byte) {
			it = record.Over(payload)
			if _, err := in.Records(&it, 200); err != nil || it.Rest() > 0 {
				t.Fatalf("%v, %d bytes left", err, it.Rest())
			}
		})
	}
	for range 20 {
		step() // queues and pools grow to their size
	}
	if n := testing.AllocsPerRun(50, step); n != 0 && !invariant.Enabled {
		t.Fatalf("200 records allocate %v times", n)
	}
	if sum == 0 {
		t.Fatal("nothing arrived")
	}
}

type adder uint64

func (a *adder) Collect(v flat) { *a += adder(v.A) }
