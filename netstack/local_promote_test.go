package netstack_test

import (
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

func TestPromotePassesWhatTheEventWaitedBehind(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	for n := range uint64(4) {
		write(p, 0, numbered(n, 200))
	}
	p.Emit(0, event(1, false))
	p.Emit(0, event(5, false))
	write(p, 0, numbered(4, 200))
	write(p, 0, numbered(5, 200)) // open
	if found := p.Promote(ofKind(5), urgently, s.passing()); !slices.Equal(found, []bool{true}) {
		t.Fatalf("found %v", found)
	}
	s.want("0:2", "0:3", "0:e1")
	wantOvertaken(t, g, "0:p5", "0:0", "0:1")
	if found := p.Promote(ofKind(5), urgently, s.passing()); found[0] {
		t.Error("found twice")
	}
	s.want()
	p.Finish()
	wantTranscript(t, newReader(t, g), "0:0", "0:1", "0:2", "0:3", "0:e1", "0:4", "0:5", "0:end")
}

// TestPromoteBySubpartition: one has sent its event, one has not, one never had it.
func TestPromoteBySubpartition(t *testing.T) {
	l := newLocal(t, localOptions{gates: 3, in: smallWindow})
	defer l.close()
	p, s := l.outs[0], &shares{t: t}
	for n := range uint64(3) {
		write(p, 1, numbered(n, 200))
	}
	p.Emit(0, event(5, false))
	p.Emit(1, event(5, false))
	if !p.Holds(ofKind(5)) || p.Holds(ofKind(6)) {
		t.Error("the partition does not hold event 5 alone")
	}
	var subs []int
	found := p.Promote(ofKind(5), func(sub int, e *netstack.Event) *netstack.Event {
		subs = append(subs, sub)
		return urgently(sub, e)
	}, s.passing())
	if !slices.Equal(found, []bool{false, true, false}) || !slices.Equal(subs, []int{1}) {
		t.Fatalf("found %v, made for %v, want it in 1 alone", found, subs)
	}
	s.want("1:2")
	wantOvertaken(t, l.ins[1], "0:p5", "0:0", "0:1")
	if p.Holds(ofKind(5)) {
		t.Error("the partition holds event 5, which has left all queues")
	}
	wantTranscript(t, newReader(t, l.ins[0]), "0:e5")
	wantTranscript(t, newReader(t, l.ins[1]), "0:0", "0:1", "0:2")
}

func TestPromoteStops(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: -1, Floating: 1}})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	r := newReader(t, g)
	for n := range uint64(2) {
		write(p, 0, numbered(n, 200))
	}
	p.Emit(0, event(100, false))
	write(p, 0, numbered(2, 200))
	p.Emit(0, event(101, false))
	write(p, 0, numbered(3, 200))
	p.Emit(0, event(102, false))
	if !p.Promote(ofKind(102), urgently, s.passing())[0] { // not past 101
		t.Fatal("not found")
	}
	s.want("0:3")
	if !p.Promote(ofKind(100), urgently, s.passing())[0] {
		t.Fatal("not found")
	}
	s.want("0:1")
	if !p.Promote(ofKind(101), urgently, s.passing())[0] { // 100 is out of its way
		t.Fatal("not found")
	}
	s.want("0:1", "0:2")
	wantOvertaken(t, g, "0:p100", "0:0")
	wantOvertaken(t, g, "0:p101", "0:0")
	// 102 leaves behind 2, with the credit for it, and is ahead of it at the gate.
	wantTranscript(t, r, "0:0", "0:1", "0:p102", "0:2", "0:3")
}

// TestPromoteAtTheHead replaces the event: there is nothing to pass.
func TestPromoteAtTheHead(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: -1, Floating: 1}})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	write(p, 0, numbered(0, 200))
	write(p, 0, numbered(1, 200))
	p.Emit(0, event(100, false))
	p.Emit(0, event(5, false))
	write(p, 0, numbered(2, 200))
	if !p.Promote(ofKind(5), urgently, s.passing())[0] {
		t.Fatal("not found")
	}
	s.want()
	it, _ := g.Next()
	it.Buf.Release()
	g.Done(0) // credit for what is in the way
	wantOvertaken(t, g, "0:p5", "0:1", "0:e100")
	wantTranscript(t, newReader(t, g), "0:1", "0:e100")
	p.Finish()
	wantTranscript(t, newReader(t, g), "0:2", "0:end")
}

func TestPromoteAtTheGate(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2})
	defer l.close()
	p, g := l.outs[1], l.ins[0]
	r := newReader(t, g)
	promote := func(kind int, want ...string) {
		t.Helper()
		e, n, ok := g.Promote(1, ofKind(kind))
		if !ok || !ofKind(kind)(e) || !slices.Equal(queued(t, g, 1, n), want) {
			t.Fatalf("promoted %+v, %v ahead of %q, want %q", e, ok, queued(t, g, 1, n), want)
		}
	}
	missing := func(kind int) {
		t.Helper()
		if e, _, ok := g.Promote(1, ofKind(kind)); ok {
			t.Fatalf("found %+v", e)
		}
	}
	missing(1)
	flushed(l.outs[0], 50)
	flushedTo(p, 0, 0)
	p.Emit(0, event(1, false)) // in the inbox
	promote(1, "1:0")
	missing(1)
	p.Emit(0, event(2, false))
	flushedTo(p, 0, 1)
	p.Emit(0, event(3, false))
	flushedTo(p, 0, 2)
	g.Block(1)
	wantTranscript(t, r, "0:50")
	promote(3, "1:0", "1:e2", "1:1") // in the queue of a blocked channel
	g.Unblock(1)
	wantTranscript(t, r, "1:0", "1:e2", "1:1", "1:2")
	p.Emit(0, event(4, false)) // alone in the queue, which is listed, and empty then
	promote(4)
	wantTranscript(t, r)
	flushedTo(p, 0, 3)
	wantTranscript(t, r, "1:3")
	p.Finish()
	if _, _, ok := g.Promote(1, func(*netstack.Event) bool { return true }); ok {
		t.Error("the end was promoted")
	}
	wantTranscript(t, r, "1:end")
}

// TestPromoteCorrectsWhatOthersOvertook, who have not been handed out yet.
func TestPromoteCorrectsWhatOthersOvertook(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 2})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	flushed(p, 0)
	p.Emit(0, event(1, true))
	p.Emit(0, event(2, false))
	p.Emit(0, event(3, true))
	flushed(p, 1)
	p.Emit(0, event(4, true))
	flushedTo(l.outs[1], 0, 10)
	l.outs[1].Emit(0, event(5, true))
	if _, n, ok := g.Promote(0, ofKind(2)); !ok || n != 1 {
		t.Fatalf("promoted ahead of %d items, %v", n, ok)
	}
	wantOvertaken(t, g, "0:p1", "0:0")
	wantOvertaken(t, g, "0:p3", "0:0")
	wantOvertaken(t, g, "0:p4", "0:0", "0:1")
	wantOvertaken(t, g, "1:p5", "1:10")
	wantTranscript(t, newReader(t, g), "0:0", "1:10", "0:1")
}

func flushedTo(p *netstack.Partition, sub int, n uint64) {
	write(p, sub, numbered(n, 8))
	p.Flush(0)
}

// TestHastenedEventsOvertake from when they are looked at; what is in the inbox
// already counts, what has been queued is for Promote.
func TestHastenedEventsOvertake(t *testing.T) {
	w := newWaits(t, localOptions{})
	defer w.close()
	p, g := w.out, w.in
	flushed(p, 0)
	p.Emit(0, event(1, false))
	p.Emit(0, event(1, true))
	wantOvertaken(t, g, "0:p1", "0:0", "0:e1")
	flushed(p, 1)
	p.Emit(0, event(2, false))
	g.Hasten(func(e *netstack.Event) bool { return ofKind(1)(e) || ofKind(2)(e) })
	hastened := func(kind int, want ...string) {
		t.Helper()
		it, ok := g.Next()
		if !ok || it.Event == nil || !ofKind(kind)(it.Event) || !slices.Equal(queued(t, g, 0, it.Overtaken), want) {
			t.Fatalf("%+v came, want event %d that overtook %q", it, kind, want)
		}
	}
	hastened(2, "0:0", "0:e1", "0:1")
	if _, n, ok := g.Promote(0, ofKind(1)); !ok || n != 1 {
		t.Fatalf("promoted ahead of %d items, %v", n, ok)
	}
	flushed(p, 2)
	w.wakes(w.consumer, "a hastened event behind other arrivals", func() { p.Emit(0, event(2, false)) })
	p.Emit(0, event(3, false))
	p.Finish()
	hastened(2, "0:0", "0:1", "0:2")
	g.Hasten(nil)
	p.Overtake(event(4, true), netstack.Passing{})
	wantTranscript(t, w.r, "0:p4", "0:0", "0:1", "0:2", "0:e3", "0:end")
}

// TestEachEventFindsOrderedEvents that have arrived, wherever they wait.
func TestEachEventFindsOrderedEvents(t *testing.T) {
	l := newLocal(t, localOptions{partitions: 3})
	defer l.close()
	g := l.ins[0]
	g.Block(1)
	flushed(l.outs[0], 0)
	l.outs[0].Emit(0, event(1, false))
	flushed(l.outs[0], 1)
	l.outs[0].Emit(0, event(2, false))
	l.outs[1].Emit(0, event(3, false))
	l.outs[2].Emit(0, event(4, true)) // not ordered
	l.outs[2].Finish()                // not the user's
	each := func(want ...string) {
		t.Helper()
		var got []string
		g.EachEvent(func(ch int, e *netstack.Event) { got = append(got, itemLines(t, ch, bufferpool.Buffer{}, e)...) })
		if !slices.Equal(got, want) {
			t.Fatalf("found %q, want %q", got, want)
		}
	}
	each("0:e1", "0:e2", "1:e3")
	wantTranscript(t, newReader(t, g), "2:p4", "0:0", "2:end", "0:e1", "0:1", "0:e2")
	each("1:e3")
	g.Unblock(1)
	wantTranscript(t, newReader(t, g), "1:e3")
	each()
}
