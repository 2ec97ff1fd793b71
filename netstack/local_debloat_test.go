package netstack_test

import (
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// TestBuffersShrinkUnderBackpressureAndGrowAgain plays a producer against a consumer of
// a known rate, on a clock of its own.
func TestBuffersShrinkUnderBackpressureAndGrowAgain(t *testing.T) {
	a := newArena(t, 4<<10, 256)
	parker := netstack.NewParker()
	p, err := netstack.NewPartition(a, netstack.PartitionOptions{Subpartitions: 1, Waker: parker, Wait: func() { t.Fatal("waits") }})
	if err != nil {
		t.Fatal(err)
	}
	g, err := netstack.NewGate(netstack.GateOptions{Inputs: []int{1}, Waker: parker})
	if err != nil {
		t.Fatal(err)
	}
	netstack.ConnectLocal(p, 0, g, 0)
	const record = 64
	now, budget := time.Duration(0), 0 // bytes that may be consumed
	run := func(d time.Duration, perMilli int) (most int) {
		for end := now + d; now < end; now += time.Millisecond {
			for p.Available() && (perMilli > 0 || p.Fill() < p.MaxRecord()) {
				p.Space(0, record)
				p.Commit(0, record)
				if perMilli == 0 {
					break // a producer that is slower than its consumer
				}
			}
			for budget = min(budget, 0) + perMilli; budget > 0 || perMilli == 0; {
				it, ok := g.Next()
				if !ok {
					break
				}
				budget -= it.Buf.Len()
				most = max(most, it.Buf.Len())
				it.Buf.Release()
				g.Done(it.Channel)
			}
			p.Debloat(now, 100*time.Millisecond)
		}
		return most
	}
	full := p.MaxRecord()
	if run(time.Second, 8<<10); p.Fill() != full {
		t.Errorf("a fast consumer's buffers are filled to %d of %d", p.Fill(), full)
	}
	run(5*time.Second, 64) // 64 KB/s: 6.4 KB in 100 ms, in 20 buffers
	if got := p.Fill(); got < 256 || got > 480 {
		t.Errorf("a slow consumer's buffers are filled to %d, want about 320", got)
	}
	if most := run(2*time.Second, 64); most > 480 {
		t.Errorf("a buffer of %d bytes was sent", most)
	}
	if run(5*time.Second, 0); p.Fill() != full {
		t.Errorf("buffers are filled to %d of %d although nothing holds the producer up", p.Fill(), full)
	}
	p.Cancel()
	p.Close()
	g.Close()
	if held := a.Held(); held != 0 {
		t.Errorf("%d buffers are held", held)
	}
}
