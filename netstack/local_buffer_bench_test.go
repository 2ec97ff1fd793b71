package netstack_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// BenchmarkLocalBuffer is what one buffer costs from the partition's queue to the
// consumer and back, in one goroutine: no data to speak of, no waiting.
func BenchmarkLocalBuffer(b *testing.B) {
	l := newLocal(b, localOptions{segments: 64})
	p, g := l.outs[0], l.ins[0]
	b.ReportAllocs()
	for range b.N {
		p.Available()
		p.Space(0, 8)
		p.Commit(0, 8)
		p.Flush(0)
		it, _ := g.Next()
		it.Buf.Release()
		g.Done(it.Channel)
	}
	p.Cancel()
	l.close()
}

// BenchmarkLocalBatch is the same for batches of 8 buffers, which leave the gate's
// queues one after the other.
func BenchmarkLocalBatch(b *testing.B) {
	l := newLocal(b, localOptions{segments: 64})
	p, g := l.outs[0], l.ins[0]
	size := p.MaxRecord()
	b.ReportAllocs()
	for range b.N {
		for range 8 {
			p.Available()
			p.Space(0, size)
			p.Commit(0, size)
		}
		p.Flush(0)
		for it, ok := g.Next(); ok; it, ok = g.Next() {
			it.Buf.Release()
			g.Done(it.Channel)
		}
	}
	p.Cancel()
	l.close()
}

// BenchmarkOvertake is what an event costs that passes 10 buffers in each of 4
// queues, shares them, and overtakes 4 more in each gate.
func BenchmarkOvertake(b *testing.B) {
	l := newLocal(b, localOptions{gates: 4, segments: 128, out: netstack.PartitionOptions{Exclusive: 20, MaxQueued: 20},
		in: netstack.GateOptions{Exclusive: 2, Floating: 2}})
	p := l.outs[0]
	for sub := range 4 {
		for range 14 {
			p.Space(sub, p.MaxRecord())
			p.Commit(sub, p.MaxRecord())
		}
	}
	e, shared, overtaken := event(1, true), 0, 0
	pass := netstack.Passing{Share: func(_ int, buf bufferpool.Buffer, _ bool) {
		shared++
		buf.Release()
	}}
	b.ReportAllocs()
	for b.Loop() {
		p.Overtake(e, pass)
		for _, g := range l.ins {
			it, _ := g.Next()
			g.EachQueued(0, it.Overtaken, func(bufferpool.Buffer, bool, *netstack.Event) { overtaken++ })
		}
	}
	b.ReportMetric(float64(shared)/float64(b.N), "shared/op")
	b.ReportMetric(float64(overtaken)/float64(b.N), "overtaken/op")
	p.Cancel()
	l.close()
}
