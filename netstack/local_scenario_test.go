package netstack_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// TestScenario09_ZeroExclusive: channels without buffers of their own have data
// after a silence, again and again, while the floating buffer is with the consumer.
func TestScenario09_ZeroExclusive(t *testing.T) {
	for _, floating := range []int{1, 2, 3} {
		l := newLocal(t, localOptions{partitions: 3, in: netstack.GateOptions{Exclusive: -1, Floating: floating}})
		r := newReader(t, l.ins[0])
		for round := range uint64(5) {
			flushed(l.outs[0], 0)
			it, ok := l.ins[0].Next()
			if !ok || it.Channel != 0 {
				t.Fatalf("floating %d, round %d: got %+v, %v, want data", floating, round, it, ok)
			}
			for n := range uint64(4) {
				for _, p := range l.outs {
					write(p, 0, numbered(1+n, 8))
					p.Emit(0, event(0, false)) // seals, credit or not
				}
			}
			r.done(it)
			for ch, got := range r.rest() {
				if len(got) != 4 {
					t.Fatalf("floating %d, round %d: channel %d got %v, want 4 records", floating, round, ch, got)
				}
			}
		}
		l.close()
	}
}

// TestScenario10_SendersHoldEveryBuffer runs a chain of stages in the least memory
// that their pools can be promised. They start one after the other, each when the
// one before it has got stuck (a single subtask of it does, for the other may wait
// for data that is in a buffer which nobody sends on while all are full).
func TestScenario10_SendersHoldEveryBuffer(t *testing.T) {
	const width, stages, records = 2, 3, 300
	a := newArena(t, 256, stages*width*(width+1))
	po := netstack.PartitionOptions{Exclusive: 1, MaxQueued: 100}
	var ranks [stages + 1][]*subtask
	for i := range ranks {
		ins, outs := width, width
		if i == 0 {
			ins = 0
		}
		if i == stages {
			outs = 0
		}
		ranks[i] = newRank(t, a, width, ins, outs, netstack.GateOptions{}, po)
		if i > 0 {
			join(ranks[i-1], ranks[i])
		}
	}
	var wg sync.WaitGroup
	var came atomic.Int64
	for i, rank := range ranks {
		full := make(chan struct{})
		stuck := sync.OnceFunc(func() { close(full) })
		for _, s := range rank {
			wg.Go(func() {
				s.stuck = stuck
				defer stuck()
				n := uint64(0)
				pass := func(r *record.Record) {
					if s.out == nil {
						came.Add(1)
						return
					}
					s.put(int(n%width), *r)
					n++
				}
				if i > 0 {
					s.eachRecord(pass)
				} else {
					for k := range uint64(records) {
						r := numbered(k, int(k%5)*100) // some are larger than a buffer
						pass(&r)
					}
				}
				if s.out != nil {
					s.finish()
				}
			})
		}
		if i < stages {
			finishes(t, "a stage to fill its buffers", func() { <-full })
		}
	}
	finishes(t, "the chain to run dry", wg.Wait)
	if n := came.Load(); n != width*records {
		t.Errorf("%d records came out, want %d", n, width*records)
	}
	wantNothingHeld(t, a)
}
