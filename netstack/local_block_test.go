package netstack_test

import (
	"testing"

	"github.com/overtake-stream/overtake/netstack"
)

func flushed(p *netstack.Partition, n uint64) {
	write(p, 0, numbered(n, 8))
	p.Flush(0)
}

func TestBlockedChannelIsPassedOver(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2})
	defer l.close()
	r := newReader(t, l.ins[0])
	l.ins[0].Block(0)
	for n := range uint64(2) {
		flushed(l.outs[0], n)
		flushed(l.outs[1], n)
	}
	wantTranscript(t, r, "1:0", "1:1")
	l.ins[0].Unblock(0)
	wantTranscript(t, r, "0:0", "0:1")
}

// TestBlockingAChannelThatIsNextInTurn: it stays in the list until its turn comes.
func TestBlockingAChannelThatIsNextInTurn(t *testing.T) {
	for _, unblock := range []bool{false, true} {
		l := newLocal(t, localOptions{partitions: 3})
		r := newReader(t, l.ins[0])
		for _, p := range l.outs {
			flushed(p, 0)
			flushed(p, 1)
		}
		it, _ := l.ins[0].Next() // all three are listed now
		r.done(it)
		l.ins[0].Block(1)
		if unblock {
			l.ins[0].Unblock(1) // before its turn: it must not be listed twice
			wantTranscript(t, r, "1:0", "2:0", "0:1", "1:1", "2:1")
		} else {
			wantTranscript(t, r, "2:0", "0:1", "2:1")
			l.ins[0].Unblock(1)
			wantTranscript(t, r, "1:0", "1:1")
		}
		l.close()
	}
}

func TestEventsOfABlockedChannel(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2})
	defer l.close()
	g, r := l.ins[0], newReader(t, l.ins[0])
	flushed(l.outs[0], 0)
	g.Block(0)
	l.outs[0].Emit(0, event(1, true)) // priority events come through
	l.outs[0].Finish()                // the end does not
	l.outs[1].Finish()
	wantTranscript(t, r, "0:p1", "1:end")
	if g.Open() != 1 {
		t.Fatalf("%d channels are open, want the blocked one", g.Open())
	}
	g.Unblock(0)
	wantTranscript(t, r, "0:0", "0:end")
	if g.Open() != 0 {
		t.Fatalf("%d channels are open, want none", g.Open())
	}
}

// TestBlockedChannelHoldsItsProducerOnly: the other goes on.
func TestBlockedChannelHoldsItsProducerOnly(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2, in: netstack.GateOptions{Exclusive: 1, Floating: 1}})
	defer l.close()
	r := newReader(t, l.ins[0])
	l.ins[0].Block(0)
	written := 0
	for ; l.outs[0].Available(); written++ {
		write(l.outs[0], 0, numbered(uint64(written), 200))
	}
	for n := range uint64(100) {
		if !l.outs[1].Available() {
			t.Fatalf("the other channel is held up after %d buffers", n)
		}
		flushed(l.outs[1], n)
		r.rest()
	}
	l.ins[0].Unblock(0)
	got := r.rest()
	l.outs[0].Finish()
	got[0] = append(got[0], r.rest()[0]...)
	if len(got[0]) != written || !l.outs[0].Available() {
		t.Fatalf("%d of %d records came, available %v", len(got[0]), written, l.outs[0].Available())
	}
}

// TestScenario04_TwoGatesUnequalWidth has data only in the last channel of the
// second of three inputs: whoever counts channels per input and not over all
// would miss it, or block another one.
func TestScenario04_TwoGatesUnequalWidth(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 6, in: netstack.GateOptions{Inputs: []int{1, 3, 2}}})
	defer l.close()
	g := l.ins[0]
	last := g.Channel(1, 2)
	if last != 3 || g.Channel(0, 0) != 0 || g.Channel(2, 0) != 4 || g.Channels() != 6 {
		t.Fatalf("channel 2 of input 1 is %d, channel 0 of input 2 is %d", last, g.Channel(2, 0))
	}
	for i, p := range l.outs {
		if i != last {
			p.Finish()
		}
	}
	for range 5 {
		if it, ok := g.Next(); !ok || it.Event == nil || it.Channel == last {
			t.Fatalf("got %+v, %v, want the end of another channel", it, ok)
		}
	}
	flushed(l.outs[last], 0)
	g.Block(last)
	if it, ok := g.Next(); ok {
		t.Fatalf("blocked, and yet %+v", it)
	}
	g.Unblock(last)
	it, ok := g.Next()
	if !ok || it.Channel != last || it.Input != 1 || it.Buf.IsZero() {
		t.Fatalf("got %+v, %v, want data on channel %d of input 1", it, ok, last)
	}
	it.Buf.Release()
	g.Done(it.Channel)
	l.outs[last].Finish()
	if it, ok := g.Next(); !ok || it.Event == nil || g.Open() != 0 {
		t.Fatalf("got %+v, %v, %d channels open", it, ok, g.Open())
	}
}
