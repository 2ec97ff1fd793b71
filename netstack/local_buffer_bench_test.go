package netstack_test

import "testing"

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
