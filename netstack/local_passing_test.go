package netstack_test

import (
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// smallWindow lets two buffers of each channel out.
var smallWindow = netstack.GateOptions{Exclusive: 1, Floating: 1}

func TestOvertakeTellsWhatItPassed(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	for n := range uint64(5) {
		write(p, 0, numbered(n, 200)) // the next one does not fit, and seals
	}
	p.Emit(0, event(1, false))
	write(p, 0, numbered(5, 8))
	p.Overtake(event(7, true), s.passing())
	write(p, 0, numbered(6, 8))
	p.Finish()
	wantOvertaken(t, g, "0:p7", "0:0", "0:1")
	s.want("0:2", "0:3", "0:4", "0:e1", "0:5")
	wantTranscript(t, newReader(t, g), "0:0", "0:1", "0:2", "0:3", "0:4", "0:e1", "0:5", "0:6", "0:end")
}

func TestOvertakeTellsOfEachSubpartition(t *testing.T) {
	for _, broadcast := range []bool{false, true} {
		l := newLocal(t, localOptions{gates: 3, in: netstack.GateOptions{Exclusive: -1, Floating: 1}, out: netstack.PartitionOptions{Broadcast: broadcast}})
		p, s := l.outs[0], &shares{t: t}
		for n := range uint64(6) {
			sub := int(n) % 3
			if broadcast {
				sub = 0
			}
			write(p, sub, numbered(n, 200))
		}
		p.Overtake(event(7, true), s.passing())
		if !broadcast {
			for sub := range 3 {
				wantOvertaken(t, l.ins[sub], "0:p7", []string{"0:0", "0:1", "0:2"}[sub])
			}
			s.want("0:3", "1:4", "2:5")
		} else {
			for sub := range 3 {
				wantOvertaken(t, l.ins[sub], "0:p7", "0:0")
			}
			if s.items[0].buf != s.items[5].buf {
				t.Errorf("subpartitions 0 and 1 of a broadcast passed %v and %v, want one buffer", s.items[0].buf, s.items[5].buf)
			}
			for _, g := range l.ins { // the shares outlive the queues
				newReader(t, g).rest()
			}
			s.want("0:1", "0:2", "0:3", "0:4", "0:5", "1:1", "1:2", "1:3", "1:4", "1:5", "2:1", "2:2", "2:3", "2:4", "2:5")
		}
		for _, g := range l.ins {
			newReader(t, g).rest()
		}
		l.close()
	}
}

// TestScenario07_SharedBufferOutlivesItsReaders: what a share refers to is not
// handed out anew, although everybody else has released it.
func TestScenario07_SharedBufferOutlivesItsReaders(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow, segments: 64, out: netstack.PartitionOptions{Exclusive: 4, Floating: 4}})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	for n := range uint64(4) {
		write(p, 0, numbered(n, 200))
	}
	p.Overtake(event(1, true), s.passing())
	g.Next()
	var kept []bufferpool.Buffer
	g.EachQueued(0, 2, func(buf bufferpool.Buffer, _ bool, _ *netstack.Event) { kept = append(kept, buf.Retain()) })
	r := newReader(t, g)
	r.rest()
	for n := range uint64(50) { // fill every buffer that is free with something else
		if !p.Available() {
			t.Fatal("the partition ran dry")
		}
		write(p, 0, numbered(100+n, 200))
		r.rest()
	}
	for i, buf := range kept {
		if got := itemLines(t, 0, buf, nil); !slices.Equal(got, []string{[]string{"0:0", "0:1"}[i]}) {
			t.Errorf("buffer %d, retained at the gate, holds %q", i, got)
		}
		buf.Release()
	}
	s.want("0:2", "0:3")
	p.Finish()
	r.rest()
}

func TestOvertakeWithoutAnythingToPass(t *testing.T) {
	l := newLocal(t, localOptions{})
	defer l.close()
	p, s := l.outs[0], &shares{t: t}
	p.Overtake(event(1, true), s.passing())
	wantOvertaken(t, l.ins[0], "0:p1")
	flushed(p, 0)
	newReader(t, l.ins[0]).rest()
	p.Overtake(event(2, true), netstack.Passing{}) // tells nobody
	wantOvertaken(t, l.ins[0], "0:p2")
	p.Finish()
	newReader(t, l.ins[0]).rest()
	p.Overtake(event(3, true), s.passing()) // the channel has ended: events still come
	wantOvertaken(t, l.ins[0], "0:p3")
	s.want()
}

func TestOvertakeTakesNoReferenceUnasked(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p := l.outs[0]
	for n := range uint64(4) {
		write(p, 0, numbered(n, 200))
	}
	p.Overtake(event(1, true), netstack.Passing{})
	wantOvertaken(t, l.ins[0], "0:p1", "0:0", "0:1")
	wantTranscript(t, newReader(t, l.ins[0]), "0:0", "0:1", "0:2", "0:3")
}

// TestOvertakeStops: it stays behind what Stop names, and behind earlier priority
// events wherever they are; others' events of the exchange it passes.
func TestOvertakeStops(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	for n := range uint64(4) {
		write(p, 0, numbered(n, 200))
	}
	p.Emit(0, event(100, false))
	write(p, 0, numbered(4, 200))
	p.Emit(0, event(1, false))
	p.Overtake(event(50, true), s.passing())
	s.want("0:4", "0:e1")
	write(p, 0, numbered(5, 200))
	p.Overtake(event(51, true), s.passing())
	s.want("0:4", "0:e1", "0:5")
	p.Overtake(event(52, true), netstack.Passing{}) // without Stop it is still behind the others
	p.Emit(0, event(53, true))                      // which is not Overtake, and goes to the head
	wantOvertaken(t, g, "0:p53", "0:0", "0:1")
	it, _ := g.Next()
	it2, _ := g.Next()
	for _, it := range []netstack.Item{it, it2} { // credit for what is in the way
		it.Buf.Release()
		g.Done(it.Channel)
	}
	wantOvertaken(t, g, "0:p50", "0:2", "0:3", "0:e100")
	wantOvertaken(t, g, "0:p51", "0:2", "0:3", "0:e100")
	wantOvertaken(t, g, "0:p52", "0:2", "0:3", "0:e100")
	p.Finish()
	wantTranscript(t, newReader(t, g), "0:2", "0:3", "0:e100", "0:4", "0:e1", "0:5", "0:end")
}

func TestOvertakePassesTheEnd(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	for n := range uint64(3) {
		write(p, 0, numbered(n, 200))
	}
	p.Finish()
	p.Overtake(event(1, true), s.passing())
	wantOvertaken(t, g, "0:p1", "0:0", "0:1")
	if last := s.items[len(s.items)-1]; last.event == nil || last.event.Kind != netstack.EndOfPartition {
		t.Errorf("the last item that was passed is %+v, want the end", last)
	}
	s.release()
	wantTranscript(t, newReader(t, g), "0:0", "0:1", "0:2", "0:end")
}

// TestOvertakeTellsOfPieces of records.
func TestOvertakeTellsOfPieces(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, g, s := l.outs[0], l.ins[0], &shares{t: t}
	write(p, 0, numbered(1, 3*p.MaxRecord()))
	p.Overtake(event(1, true), s.passing())
	it, _ := g.Next()
	var rec []byte
	pieces := 0
	add := func(buf bufferpool.Buffer, partial bool) {
		pieces++
		rec = append(rec, buf.Payload()...)
		if want := pieces < 4; partial != want {
			t.Errorf("piece %d: partial %v, want %v", pieces, partial, want)
		}
	}
	g.EachQueued(0, it.Overtaken, func(buf bufferpool.Buffer, partial bool, _ *netstack.Event) { add(buf, partial) })
	for _, it := range s.items {
		add(it.buf, it.partial)
	}
	s.release()
	var r record.Record
	over := record.Over(rec)
	if ok, err := over.Next(&r); !ok || err != nil || number(t, &r) != 1 {
		t.Errorf("the pieces make %+v, %v, %v", r, ok, err)
	}
	newReader(t, g).rest()
}

// TestOvertakeIntoNothing: a partition that was cancelled and closed drops events,
// and shares nothing.
func TestOvertakeIntoNothing(t *testing.T) {
	l := newLocal(t, localOptions{in: smallWindow})
	defer l.close()
	p, s := l.outs[0], &shares{t: t}
	for n := range uint64(4) {
		write(p, 0, numbered(n, 200))
	}
	p.Cancel()
	p.Close()
	p.Overtake(event(1, true), s.passing())
	if found := p.Promote(ofKind(1), urgently, s.passing()); found[0] {
		t.Error("an event was found in a closed partition")
	}
	s.want()
	wantTranscript(t, newReader(t, l.ins[0]), "0:0", "0:1")
}
