package netstack_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/netstack"
)

// TestOvertakenCountsWhatArrivedBefore: several priority events of one channel, with
// items before, between and behind them, all in one look at the inbox.
func TestOvertakenCountsWhatArrivedBefore(t *testing.T) {
	l := newLocal(t, localOptions{})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	p.Emit(0, event(1, true))
	flushed(p, 0)
	p.Emit(0, event(2, true))
	p.Emit(0, event(10, false))
	flushed(p, 1)
	p.Emit(0, event(3, true))
	p.Emit(0, event(4, true))
	flushed(p, 2)
	p.Finish()
	wantOvertaken(t, g, "0:p1")
	wantOvertaken(t, g, "0:p2", "0:0")
	wantOvertaken(t, g, "0:p3", "0:0", "0:e10", "0:1")
	wantOvertaken(t, g, "0:p4", "0:0", "0:e10", "0:1")
	wantTranscript(t, newReader(t, g), "0:0", "0:e10", "0:1", "0:2", "0:end")
}

// TestOvertakenLeavesOutWhatWasHandedOut, from the first item after the arrival of
// the event on: Next looks for it before each item.
func TestOvertakenLeavesOutWhatWasHandedOut(t *testing.T) {
	l := newLocal(t, localOptions{})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	for n := range uint64(4) {
		flushed(p, n)
	}
	var held []netstack.Item // handed out, and not even given back
	for range 2 {
		it, _ := g.Next()
		held = append(held, it)
	}
	p.Emit(0, event(1, true)) // between looking at the inbox and the next item
	wantOvertaken(t, g, "0:p1", "0:2", "0:3")
	it, _ := g.Next()
	held = append(held, it)
	p.Emit(0, event(2, true))
	p.Emit(0, event(3, true))
	wantOvertaken(t, g, "0:p2", "0:3")
	p.Emit(0, event(4, true)) // while others are being handed out
	wantOvertaken(t, g, "0:p3", "0:3")
	wantOvertaken(t, g, "0:p4", "0:3")
	for _, it := range held {
		it.Buf.Release()
		g.Done(it.Channel)
	}
	wantTranscript(t, newReader(t, g), "0:3")
}

// TestOvertakenOfABlockedChannel: its priority events are handed out, and what it
// keeps back counts; more arrives as long as there is credit.
func TestOvertakenOfABlockedChannel(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2, in: smallWindow})
	defer l.close()
	p, g, r := l.outs[0], l.ins[0], newReader(t, l.ins[0])
	if g.Blocked(0) || g.Blocked(1) {
		t.Error("a channel is blocked from the start")
	}
	g.Block(0)
	if !g.Blocked(0) || g.Blocked(1) {
		t.Error("Block(0) does not block channel 0 alone")
	}
	write(p, 0, numbered(0, 200))
	flushed(l.outs[1], 0)
	p.Flush(0)
	wantTranscript(t, r, "1:0")
	p.Emit(0, event(1, true))
	wantOvertaken(t, g, "0:p1", "0:0")
	for n := range uint64(3) { // credit for one of them
		write(p, 0, numbered(1+n, 200))
	}
	wantTranscript(t, r)
	if n := g.QueuedBuffers(); n != 2 {
		t.Errorf("%d buffers are queued at the gate, want as many as have credit, 2", n)
	}
	s := &shares{t: t}
	p.Overtake(event(2, true), s.passing())
	wantOvertaken(t, g, "0:p2", "0:0", "0:1")
	s.want("0:2", "0:3")
	g.Unblock(0)
	if g.Blocked(0) {
		t.Error("Unblock does not unblock")
	}
	wantTranscript(t, r, "0:0", "0:1", "0:2", "0:3")
}

// TestScenario04_OvertakenOfUnequalInputs: channels are counted over all inputs.
func TestScenario04_OvertakenOfUnequalInputs(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 6, in: netstack.GateOptions{Inputs: []int{1, 3, 2}}})
	defer l.close()
	g := l.ins[0]
	last := g.Channel(2, 1)
	for n := range uint64(3) {
		flushed(l.outs[last], n)
	}
	flushed(l.outs[0], 9)
	l.outs[last].Emit(0, event(1, true))
	l.outs[0].Emit(0, event(2, true))
	l.outs[3].Emit(0, event(3, true))
	it, _ := g.Next()
	if it.Input != 2 || it.Channel != last || it.Overtaken != 3 {
		t.Fatalf("%+v came, want one of channel %d, input 2, that overtook 3 items", it, last)
	}
	wantOvertaken(t, g, "0:p2", "0:9")
	wantOvertaken(t, g, "3:p3")
	if _, n, ok := g.Promote(last, ofKind(1)); ok {
		t.Fatalf("a priority event was promoted ahead of %d items", n)
	}
	newReader(t, g).rest()
}

func TestEachQueuedOfFewerItems(t *testing.T) {
	l := newLocal(t, localOptions{})
	defer l.close()
	flushed(l.outs[0], 0)
	if got := queued(t, l.ins[0], 0, 5); len(got) != 0 {
		t.Errorf("%q before Next, want nothing: nobody has looked at the inbox", got)
	}
	l.outs[0].Emit(0, event(1, true))
	wantOvertaken(t, l.ins[0], "0:p1", "0:0")
	if got := queued(t, l.ins[0], 0, 5); len(got) != 1 {
		t.Errorf("%q, want the one item that there is", got)
	}
	newReader(t, l.ins[0]).rest()
}

// TestOvertakingWakesTheConsumer although its inbox is not empty, or it has no credit
// to give; and so does promotion.
func TestOvertakingWakesTheConsumer(t *testing.T) {
	w := newWaits(t, localOptions{in: smallWindow})
	defer w.close()
	s := &shares{t: t}
	w.wakes(w.consumer, "data", func() {
		for n := range uint64(4) {
			write(w.out, 0, numbered(n, 200))
		}
		w.out.Emit(0, event(5, false))
	})
	w.wakes(w.consumer, "an event that overtakes", func() { w.out.Overtake(event(1, true), s.passing()) })
	w.wakes(w.consumer, "another", func() { w.out.Overtake(event(2, true), s.passing()) })
	w.wakes(w.consumer, "a promoted event", func() { w.out.Promote(ofKind(5), urgently, s.passing()) })
	s.release()
	w.r.rest()
}

// TestPriorityEventWakesASubtaskThatWaitsForOutput: gate and partition of a subtask
// wake the same goroutine, whatever it waits for.
func TestPriorityEventWakesASubtaskThatWaitsForOutput(t *testing.T) {
	for name, po := range map[string]netstack.PartitionOptions{
		"for a buffer":  {MaxQueued: 1000},
		"for the queue": {MaxQueued: 1, Floating: 30},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, 256, 128)
			from := newRank(t, a, 1, 0, 1, smallWindow, netstack.PartitionOptions{})
			mid := newRank(t, a, 1, 1, 1, smallWindow, po)
			to := newRank(t, a, 1, 1, 0, smallWindow, netstack.PartitionOptions{})
			join(from, mid)
			join(mid, to)
			m := mid[0]
			m.in.Next() // it has seen that there is nothing
			stuck, got := make(chan struct{}), make(chan netstack.Item, 1)
			go func() {
				for m.out.Available() {
					write(m.out, 0, numbered(0, 200))
				}
				close(stuck)
				for {
					m.out.Await()
					m.parker.Park(nil)
					if it, ok := m.in.NextPriority(); ok {
						got <- it
						return
					}
				}
			}()
			<-stuck
			flushed(from[0].out, 7) // wakes it too, and is not for now
			from[0].out.Overtake(event(1, true), netstack.Passing{})
			finishes(t, "the subtask to see the event", func() {
				if it := <-got; it.Event == nil || it.Event.Kind != netstack.FirstUserEvent+1 {
					t.Errorf("%+v came", it)
				}
			})
			m.out.Cancel()
			for _, s := range []*subtask{from[0], m} {
				s.finish()
			}
			m.in.Close()
			to[0].in.Close()
			wantNothingHeld(t, a)
		})
	}
}

// TestPriorityEventWakesASubtaskInTheMiddleOfARecord: Space calls Wait again, so a
// Wait that looks at the gate sees the event.
func TestPriorityEventWakesASubtaskInTheMiddleOfARecord(t *testing.T) {
	a := newArena(t, 256, 128)
	from := newRank(t, a, 1, 0, 1, smallWindow, netstack.PartitionOptions{})
	mid := newRank(t, a, 1, 1, 1, smallWindow, netstack.PartitionOptions{Overdraft: 1, MaxQueued: 1000})
	to := newRank(t, a, 1, 1, 0, smallWindow, netstack.PartitionOptions{})
	join(from, mid)
	join(mid, to)
	stuck, seen, m := make(chan struct{}, 100), make(chan int, 1), mid[0]
	m.stuck = func() {
		stuck <- struct{}{}
		if it, ok := m.in.Next(); ok {
			m.stuck = nil
			m.out.Cancel()
			seen <- int(it.Event.Kind - netstack.FirstUserEvent)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { writeForEver(m.out, nil) })
	<-stuck
	from[0].out.Overtake(event(1, true), netstack.Passing{})
	finishes(t, "the subtask to see the event", func() {
		if kind := <-seen; kind != 1 {
			t.Errorf("event %d came", kind)
		}
	})
	wg.Wait()
	m.out.Close()
	from[0].out.Close()
	m.in.Close()
	to[0].in.Close()
	wantNothingHeld(t, a)
}

// TestNextPriorityTakesNoData, wherever the data is, and Next finds all of it later.
func TestNextPriorityTakesNoData(t *testing.T) {
	w := newWaits(t, localOptions{partitions: 2, in: smallWindow})
	defer w.close()
	g, other := w.in, w.outs[1]
	none := func() {
		t.Helper()
		if it, ok := g.NextPriority(); ok {
			t.Fatalf("%+v came, want nothing", it)
		}
	}
	next := func(ch, kind int, want ...string) {
		t.Helper()
		it, ok := g.NextPriority()
		if !ok || it.Channel != ch || !ofKind(kind)(it.Event) || !slices.Equal(queued(t, g, ch, it.Overtaken), want) {
			t.Fatalf("%+v, %v came, want event %d of channel %d that overtook %q", it, ok, kind, ch, want)
		}
	}
	none()
	flushed(w.out, 0)
	none()
	w.wakes(w.consumer, "an event", func() { w.out.Emit(0, event(1, true)) })
	flushed(w.out, 1)
	w.wakes(w.consumer, "another", func() { other.Emit(0, event(2, true)) })
	next(0, 1, "0:0")
	w.wakes(w.consumer, "one more", func() { w.out.Emit(0, event(3, true)) })
	next(1, 2)
	next(0, 3, "0:0", "0:1")
	none()
	flushed(other, 5)
	wantTranscript(t, w.r, "0:0", "0:1", "1:5")
	none()
}

func TestQueuedBuffers(t *testing.T) {
	l := newLocal(t, localOptions{gates: 2, in: smallWindow, out: netstack.PartitionOptions{Broadcast: true}})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	check := func(out, in int) {
		t.Helper()
		if p.QueuedBuffers() != out || l.ins[0].QueuedBuffers() != in {
			t.Fatalf("%d and %d buffers are queued, want %d and %d", p.QueuedBuffers(), l.ins[0].QueuedBuffers(), out, in)
		}
	}
	check(0, 0)
	for n := range uint64(5) {
		write(p, 0, numbered(n, 200))
	}
	p.EmitAll(event(1, false))
	check(2*3, 2)
	p.Emit(0, event(1, true))
	check(2*3, 2)
	wantOvertaken(t, l.ins[0], "0:p1", "0:0", "0:1")
	check(2*3, 2)
	r.rest()
	check(3, 0)
	newReader(t, l.ins[1]).rest()
	check(0, 0)
}
