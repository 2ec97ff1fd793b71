package netstack_test

import (
	"testing"

	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/netstack"
)

// TestSteadyStateAllocatesNothing pins that neither records nor buffers, events or
// flushes make garbage, once queues have grown to their size.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, broadcast := range []bool{false, true} {
		l := newLocal(t, localOptions{gates: 2, segment: 1024, out: netstack.PartitionOptions{Broadcast: broadcast}})
		p, r := l.outs[0], numbered(1, 100)
		ordered, urgent := event(0, false), event(1, true)
		round := func() {
			for n := range 40 { // several buffers; some have to wait for credit
				for !p.Available() {
					drain(l)
				}
				sub := n % 2
				if broadcast {
					sub = 0
				}
				write(p, sub, r)
			}
			p.EmitAll(ordered)
			p.EmitAll(urgent)
			p.Flush(0)
			drain(l)
		}
		round()
		if n := testing.AllocsPerRun(100, round); n != 0 && !invariant.Enabled {
			t.Errorf("broadcast %v: %v allocations per round", broadcast, n)
		}
		l.close()
	}
}

// drain gives back everything that has come, unread.
func drain(l *local) {
	for _, g := range l.ins {
		for it, ok := g.Next(); ok; it, ok = g.Next() {
			if it.Event == nil {
				it.Buf.Release()
				g.Done(it.Channel)
			}
		}
	}
}

// TestWaitingAllocatesNothing does the same with a consumer that parks.
func TestWaitingAllocatesNothing(t *testing.T) {
	a := newArena(t, 1024, 64)
	from := newRank(t, a, 1, 0, 1, netstack.GateOptions{}, netstack.PartitionOptions{})
	to := newRank(t, a, 1, 1, 0, netstack.GateOptions{}, netstack.PartitionOptions{})
	join(from, to)
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := to[0].in
		to[0].each(func(it netstack.Item) {
			if it.Event == nil {
				it.Buf.Release()
				in.Done(it.Channel)
			}
		}, func() {})
	}()
	r := numbered(1, 100)
	round := func() {
		for range 200 {
			from[0].put(0, r)
		}
		from[0].out.Flush(0)
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 && !invariant.Enabled {
		t.Errorf("%v allocations per 200 records", n)
	}
	from[0].finish()
	finishes(t, "the consumer to end", func() { <-done })
	wantNothingHeld(t, a)
}
