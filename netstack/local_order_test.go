package netstack_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

func event(kind int, priority bool) *netstack.Event {
	return &netstack.Event{Kind: netstack.FirstUserEvent + netstack.EventKind(kind), Priority: priority}
}

// transcript reads until the gate has nothing, and says what came: "0:5" is record
// 5 on channel 0, "0:e2" an ordered event, "0:p2" a priority event, "0:end".
func (r *reader) transcript() (lines []string) {
	for {
		it, ok := r.gate.Next()
		if !ok {
			return lines
		}
		say := func(format string, args ...any) {
			lines = append(lines, fmt.Sprintf("%d:", it.Channel)+fmt.Sprintf(format, args...))
		}
		switch e := it.Event; {
		case e == nil:
			r.records(it, func(rec *record.Record) { say("%d", number(r.t, rec)) })
		case e.Kind == netstack.EndOfPartition:
			say("end")
		case e.Priority:
			say("p%d", e.Kind-netstack.FirstUserEvent)
		default:
			say("e%d", e.Kind-netstack.FirstUserEvent)
		}
	}
}

func wantTranscript(t testing.TB, r *reader, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.transcript()); diff != "" {
		t.Fatalf("transcript (-want +got):\n%s", diff)
	}
}

func TestOrderedEventSealsTheOpenBuffer(t *testing.T) {
	l := newLocal(t, localOptions{})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	write(p, 0, numbered(0, 8))
	p.Emit(0, event(1, false))
	write(p, 0, numbered(1, 8))
	write(p, 0, numbered(2, 8))
	p.Emit(0, event(2, false))
	p.Emit(0, event(3, false))
	p.Finish()
	wantTranscript(t, r, "0:0", "0:e1", "0:1", "0:2", "0:e2", "0:e3", "0:end")
}

// TestPriorityEventsOvertakeQueuedData wherever the data waits: in the open buffer,
// for credit, in the gate's inbox, in the channel's queue.
func TestPriorityEventsOvertakeQueuedData(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: 1, Floating: 1}})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	for n := range uint64(4) { // two have credit
		write(p, 0, numbered(n, 8))
		p.Flush(0)
		p.Emit(0, event(int(n), false))
	}
	write(p, 0, numbered(4, 8))
	p.Emit(0, event(1, true))
	p.Emit(0, event(2, true))
	it, _ := l.ins[0].Next()
	if it.Event == nil || !it.Event.Priority {
		t.Fatalf("the first item is %+v, want the priority event", it)
	}
	p.Emit(0, event(3, true))
	wantTranscript(t, r, "0:p2", "0:p3", "0:0", "0:e0", "0:1", "0:e1", "0:2", "0:e2", "0:3", "0:e3")
	p.Finish()
	wantTranscript(t, r, "0:4", "0:end")
}

func TestPriorityEventsKeepTheirOrderBehindDataWithoutCredit(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: 1, Floating: 1}})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	for n := range uint64(3) {
		write(p, 0, numbered(n, 200))
	}
	p.Flush(0)
	for k := range 5 {
		p.Emit(0, event(k, true))
	}
	wantTranscript(t, r, "0:p0", "0:p1", "0:p2", "0:p3", "0:p4", "0:0", "0:1", "0:2")
}

func TestLargeRecordsAreCutAndPutTogether(t *testing.T) {
	l := newLocal(t, localOptions{segments: 16})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	fits := p.MaxRecord() - record.HeaderSize
	for n, size := range []int{8, fits, fits + 1, 100, 3*p.MaxRecord() + 5, 8, 4*p.MaxRecord() - record.HeaderSize} {
		write(p, 0, numbered(uint64(n), size))
		p.Emit(0, event(n, false))
		wantTranscript(t, r, fmt.Sprintf("0:%d", n), fmt.Sprintf("0:e%d", n))
	}
}

func TestPriorityEventsMayComeBetweenThePiecesOfARecord(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: 1, Floating: 1}})
	defer l.close()
	p, r := l.outs[0], newReader(t, l.ins[0])
	write(p, 0, numbered(0, 3*p.MaxRecord())) // four pieces, two have credit
	it, _ := l.ins[0].Next()
	p.Emit(0, event(1, true))
	r.records(it, func(*record.Record) { t.Error("a piece is taken for the whole") })
	wantTranscript(t, r, "0:p1", "0:0")
}

// TestBroadcastSharesOneBuffer counts buffers, and checks that events to single
// receivers keep their place.
func TestBroadcastSharesOneBuffer(t *testing.T) {
	l := newLocal(t, localOptions{gates: 3, out: netstack.PartitionOptions{Broadcast: true}})
	defer l.close()
	p := l.outs[0]
	write(p, 0, numbered(0, 8))
	p.Emit(1, event(1, false)) // seals for all: the buffer is shared
	if n := l.arena.Held(); n != 1 {
		t.Errorf("%d buffers are held for one that is shared", n)
	}
	write(p, 0, numbered(1, 8))
	p.Emit(2, event(2, true))
	p.EmitAll(event(3, false))
	if n := l.arena.Held(); n != 2 {
		t.Errorf("%d buffers are held for two that are shared", n)
	}
	wantTranscript(t, newReader(t, l.ins[0]), "0:0", "0:1", "0:e3")
	wantTranscript(t, newReader(t, l.ins[1]), "0:0", "0:e1", "0:1", "0:e3")
	if n := l.arena.Held(); n != 2 {
		t.Errorf("%d buffers are held while one receiver has not read", n)
	}
	wantTranscript(t, newReader(t, l.ins[2]), "0:p2", "0:0", "0:1", "0:e3")
	if n := l.arena.Held(); n != 0 {
		t.Errorf("%d buffers are held when all have read", n)
	}
}

func TestEventsNeedNoCredit(t *testing.T) {
	l := newLocal(t, localOptions{in: netstack.GateOptions{Exclusive: -1, Floating: 1}})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	write(p, 0, numbered(0, 8))
	p.Flush(0) // takes the only credit
	for k := range 20 {
		p.Emit(0, event(k, false))
	}
	p.Finish()
	held, _ := g.Next()
	for k := range 20 {
		if it, ok := g.Next(); !ok || it.Event == nil || int(it.Event.Kind-netstack.FirstUserEvent) != k {
			t.Fatalf("item %d: %+v, %v", k, it, ok)
		}
	}
	if it, ok := g.Next(); !ok || it.Event.Kind != netstack.EndOfPartition || g.Open() != 0 {
		t.Fatalf("last: %+v, %v, %d channels open", it, ok, g.Open())
	}
	held.Buf.Release()
	g.Done(0)
}
