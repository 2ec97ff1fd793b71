package netstack_test

import (
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// The tests of this file script every wait there is, step by step: what has to
// happen between "not now" and the wake-up, in each order in which it can.

// waits is a local with alarms in place of parkers.
type waits struct {
	*local
	producer, consumer *alarm
	out                *netstack.Partition
	in                 *netstack.Gate
	r                  *reader
}

func newWaits(t *testing.T, lo localOptions) *waits {
	w := &waits{producer: &alarm{}, consumer: &alarm{}}
	lo.out.Waker, lo.in.Waker = w.producer, w.consumer
	w.local = newLocal(t, lo)
	w.out, w.in, w.r = w.outs[0], w.ins[0], newReader(t, w.ins[0])
	return w
}

// fill writes whole buffers until the partition takes no more.
func (w *waits) fill() (n int) {
	for ; w.out.Available(); n++ {
		write(w.out, 0, numbered(uint64(n), 200))
	}
	return n
}

// wakes checks that step rings the alarm.
func (w *waits) wakes(a *alarm, what string, step func()) {
	w.t.Helper()
	before := a.rung
	step()
	if a.rung == before {
		w.t.Errorf("%s woke nobody", what)
	}
}

func TestConsumerIsWokenFromAnEmptyGate(t *testing.T) {
	w := newWaits(t, localOptions{})
	defer w.close()
	empty := func() {
		w.r.rest()
		if _, ok := w.in.Next(); ok {
			t.Fatal("the gate is not empty")
		}
	}
	empty()
	w.wakes(w.consumer, "data", func() { flushed(w.out, 0) })
	empty()
	w.wakes(w.consumer, "an event", func() { w.out.Emit(0, event(1, false)) })
	w.wakes(w.consumer, "a priority event behind it", func() { w.out.Emit(0, event(2, true)) })
	empty()
	w.wakes(w.consumer, "the end", w.out.Finish)
}

// TestEmptyGateHasLookedAtItsInbox: false from Next means that whatever comes next
// wakes. Here all that is listed is blocked while something is in the inbox, whose
// wake-up has been consumed elsewhere, by a wait for output for instance.
func TestEmptyGateHasLookedAtItsInbox(t *testing.T) {
	w := newWaits(t, localOptions{partitions: 3})
	defer w.close()
	flushed(w.outs[0], 0)
	flushed(w.outs[1], 0)
	it, _ := w.in.Next()
	w.r.done(it)
	w.in.Block(1)
	flushed(w.outs[2], 0)
	wantTranscript(t, w.r, "2:0")
	w.wakes(w.consumer, "data after false", func() { flushed(w.outs[2], 1) })
	w.in.Unblock(1)
	wantTranscript(t, w.r, "1:0", "2:1")
}

func TestProducerIsWokenWhenItsPoolHasBuffers(t *testing.T) {
	w := newWaits(t, localOptions{out: netstack.PartitionOptions{MaxQueued: 1000}})
	defer w.close()
	w.fill()
	w.out.Await()
	it, _ := w.in.Next()
	w.wakes(w.producer, "a released buffer", func() { w.r.done(it) })
	if !w.out.Available() {
		t.Error("not available after the wake-up")
	}
}

// TestScenario08_WaiterNeverWoken releases everything while the producer has seen
// that there is nothing and has not registered yet; and lets it starve because
// others have the memory, who then go.
func TestScenario08_WaiterNeverWoken(t *testing.T) {
	t.Run("released before it waits", func(t *testing.T) {
		w := newWaits(t, localOptions{out: netstack.PartitionOptions{MaxQueued: 1000}})
		defer w.close()
		w.fill()
		for i := 0; i < 3; i++ { // once more when woken, and so on
			w.r.rest()
			w.wakes(w.producer, "Await with free buffers", w.out.Await)
			w.fill()
		}
		w.r.rest()
	})
	t.Run("starved by others", func(t *testing.T) {
		w := newWaits(t, localOptions{segments: 20, out: netstack.PartitionOptions{MaxQueued: 1000}})
		defer w.close()
		other, err := w.arena.NewPool(bufferpool.PoolOptions{Name: "other", Min: 18})
		must(t, err)
		var taken []bufferpool.Buffer
		for {
			buf, ok := other.Get()
			if !ok {
				break
			}
			taken = append(taken, buf)
		}
		w.fill()
		w.out.Await()
		w.wakes(w.producer, "the other pool's end", func() {
			for _, buf := range taken {
				buf.Release()
			}
			other.Close()
		})
		if !w.out.Available() {
			t.Error("not available after the wake-up")
		}
		w.r.rest()
	})
}

func TestProducerIsWokenWhenItsQueueIsRelieved(t *testing.T) {
	w := newWaits(t, localOptions{
		out: netstack.PartitionOptions{MaxQueued: 2, Floating: 30},
		in:  netstack.GateOptions{Exclusive: 1, Floating: 1},
	})
	defer w.close()
	if n := w.fill(); n != 5 { // two at the gate, two queued, one open
		t.Fatalf("%d buffers were filled, want 5", n)
	}
	w.out.Await()
	it, _ := w.in.Next()
	w.wakes(w.producer, "credit for a full queue", func() { w.r.done(it) })
	if !w.out.Available() {
		t.Error("not available after the wake-up")
	}
	w.r.rest()
}

// TestCreditGoesOnceTheWindowIsHalfUsed for all windows: whatever the consumer
// returns in the end, the producer gets credit for all of it.
func TestCreditGoesOnceTheWindowIsHalfUsed(t *testing.T) {
	for window := 1; window <= 9; window++ {
		w := newWaits(t, localOptions{
			out: netstack.PartitionOptions{Floating: 30, MaxQueued: 20},
			in:  netstack.GateOptions{Exclusive: -1, Floating: window},
		})
		for n := range uint64(20) {
			flushed(w.out, n)
		}
		if got := w.r.rest()[0]; len(got) < 20 {
			w.out.Finish()
			if got = append(got, w.r.rest()[0]...); len(got) != 20 {
				t.Errorf("window %d: only %d of 20 buffers came", window, len(got))
			}
		}
		w.close()
	}
}

// TestAwaitWhenNothingIsInTheWay wakes at once.
func TestAwaitWhenNothingIsInTheWay(t *testing.T) {
	w := newWaits(t, localOptions{})
	defer w.close()
	w.wakes(w.producer, "Await without a spare buffer", w.out.Await)
	w.out.Available()
	w.wakes(w.producer, "Await with a spare buffer", w.out.Await)
}

// TestSpaceOverdrawsAndThenWaits: one record's output may use the overdraft.
func TestSpaceOverdrawsAndThenWaits(t *testing.T) {
	var w *waits
	waited := 0
	w = newWaits(t, localOptions{
		out: netstack.PartitionOptions{Exclusive: 1, Floating: 2, Overdraft: 3, MaxQueued: 1000, Wait: func() {
			waited++
			if waited == 1 && w.arena.Held() != 1+1+2+3 { // exclusive, spare, floating, overdraft
				t.Errorf("%d buffers are held at the first wait", w.arena.Held())
			}
			w.wakes(w.producer, "reading everything", func() { w.r.rest() })
		}},
	})
	defer w.close()
	for n := range uint64(30) {
		write(w.out, 0, numbered(n, 200))
	}
	if waited == 0 {
		t.Error("30 buffers went through a pool of 7 without waiting")
	}
	w.out.Finish()
	w.r.rest()
}

// TestSpaceGoesOnWhenWokenInVain: a wake-up for something else is not a buffer.
func TestSpaceGoesOnWhenWokenInVain(t *testing.T) {
	var w *waits
	waited := 0
	w = newWaits(t, localOptions{
		out: netstack.PartitionOptions{Exclusive: 1, Floating: 1, Overdraft: 1, MaxQueued: 1000, Wait: func() {
			if waited++; waited%3 == 0 {
				w.r.rest()
			}
		}},
	})
	defer w.close()
	for n := range uint64(20) {
		write(w.out, 0, numbered(n, 200))
	}
	if waited < 3 {
		t.Errorf("waited %d times", waited)
	}
	w.out.Finish()
	w.r.rest()
}

// TestCancelEndsEveryWait of a producer, each from another goroutine.
func TestCancelEndsEveryWait(t *testing.T) {
	waits := map[string]struct {
		o netstack.PartitionOptions
		f func(p *netstack.Partition, park func())
	}{
		"for a buffer":   {netstack.PartitionOptions{MaxQueued: 1000}, awaitForEver},
		"for the queue":  {netstack.PartitionOptions{MaxQueued: 1, Floating: 30}, awaitForEver},
		"in Space":       {netstack.PartitionOptions{MaxQueued: 1000}, writeForEver},
		"in a large one": {netstack.PartitionOptions{}, writeLargeForEver},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			parked := make(chan struct{}, 1)
			parker := netstack.NewParker()
			park := func() {
				select {
				case parked <- struct{}{}:
				default:
				}
				parker.Park(nil)
			}
			wait.o.Waker, wait.o.Wait = parker, park
			l := newLocal(t, localOptions{out: wait.o})
			var wg sync.WaitGroup
			wg.Go(func() { wait.f(l.outs[0], park) })
			<-parked
			l.outs[0].Cancel()
			finishes(t, "the producer to notice", wg.Wait)
			if !l.outs[0].Available() {
				t.Error("a cancelled partition makes its subtask wait")
			}
			l.close()
		})
	}
}

// awaitForEver ends because a cancelled partition is always available.
func awaitForEver(p *netstack.Partition, park func()) {
	for n := 0; n < 1000; n++ {
		for !p.Available() {
			p.Await()
			park()
		}
		write(p, 0, numbered(uint64(n), 200))
	}
}

func writeForEver(p *netstack.Partition, park func()) {
	for n := range uint64(1000) {
		write(p, 0, numbered(n, 200))
	}
}

func writeLargeForEver(p *netstack.Partition, park func()) {
	write(p, 0, numbered(0, 1000*p.MaxRecord()))
}
