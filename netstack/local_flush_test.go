package netstack_test

import (
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

func wantDue(t *testing.T, p *netstack.Partition, at time.Duration, pending bool) {
	t.Helper()
	gotAt, gotPending := p.FlushDue()
	if gotPending != pending || (pending && gotAt != at) {
		t.Fatalf("flush due %v, %v; want %v, %v", gotAt, gotPending, at, pending)
	}
}

func TestFlushIsDueWhileABufferIsOpen(t *testing.T) {
	l := newLocal(t, localOptions{gates: 2, out: netstack.PartitionOptions{FlushInterval: 5 * time.Millisecond}})
	defer l.close()
	p := l.outs[0]
	p.Flush(time.Second)
	wantDue(t, p, 0, false)
	write(p, 0, numbered(0, 8))
	wantDue(t, p, time.Second+5*time.Millisecond, true)
	write(p, 1, numbered(1, 8))
	if _, ok := l.ins[0].Next(); ok {
		t.Fatal("an open buffer was sent before its flush")
	}
	p.Flush(time.Second + 5*time.Millisecond)
	wantDue(t, p, 0, false)
	for i := range l.ins {
		wantTranscript(t, newReader(t, l.ins[i]), "0:"+string(rune('0'+i)))
	}
}

func TestNegativeFlushIntervalIsDueAtOnce(t *testing.T) {
	l := newLocal(t, localOptions{out: netstack.PartitionOptions{FlushInterval: -1}})
	defer l.close()
	l.outs[0].Flush(time.Second)
	write(l.outs[0], 0, numbered(0, 8))
	wantDue(t, l.outs[0], time.Second, true)
}

// TestFlushLeavesBuffersToFillBehindAQueue: sent early, they would only wait there.
func TestFlushLeavesBuffersToFillBehindAQueue(t *testing.T) {
	for _, broadcast := range []bool{false, true} {
		l := newLocal(t, localOptions{
			gates: 2, out: netstack.PartitionOptions{Broadcast: broadcast},
			in: netstack.GateOptions{Exclusive: -1, Floating: 1},
		})
		p := l.outs[0]
		for n := range uint64(2) { // one at the gate, one queued, for subpartition 0
			write(p, 0, numbered(n, 8))
			p.Flush(0)
		}
		if broadcast { // receiver 1 has read all it was sent, receiver 0 has a queue
			newReader(t, l.ins[1]).rest()
		}
		write(p, 0, numbered(2, 8))
		p.Flush(time.Second)
		_, open := p.FlushDue()
		if open == broadcast {
			t.Errorf("broadcast %v: buffer is open %v: it has to leave exactly if somebody has nothing queued", broadcast, open)
		}
		newReader(t, l.ins[0]).rest()
		p.Flush(2 * time.Second)
		if _, open := p.FlushDue(); open {
			t.Errorf("broadcast %v: the buffer is kept although nothing is queued", broadcast)
		}
		newReader(t, l.ins[0]).rest()
		newReader(t, l.ins[1]).rest()
		l.close()
	}
}
