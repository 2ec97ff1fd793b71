package netstack_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// firstNumbers are the numbers at the front of buffers that outlet.send wrote.
type firstNumbers []uint64

func (l *firstNumbers) add(buf bufferpool.Buffer) {
	*l = append(*l, binary.LittleEndian.Uint64(buf.Payload()))
}

func (l *firstNumbers) share(_ int, buf bufferpool.Buffer, _ bool) {
	l.add(buf)
	buf.Release()
}

func upTo(n uint64) (want firstNumbers) {
	for i := range n {
		want = append(want, i)
	}
	return want
}

func wantNumbers(t *testing.T, what string, got, want firstNumbers) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestOvertakingBetweenWorkers: what an event finds at the receiver, and what it
// passed at the sender, is all there is, wherever the connection was with it.
func TestOvertakingBetweenWorkers(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const n = 20
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1, Exclusive: 2 * n, MaxQueued: 2 * n}, 2)
		p.in.Block(0)
		for i := range uint64(n) {
			p.out.send(0, i, p.out.MaxRecord())
		}
		var passed firstNumbers
		p.out.Overtake(event(1, true), netstack.Passing{Share: passed.share})
		it := p.in.next()
		var got firstNumbers
		at := func(n int) {
			p.in.EachQueued(0, n, func(buf bufferpool.Buffer, _ bool, e *netstack.Event) { got.add(buf) })
		}
		at(it.Overtaken)
		if len(passed) < n-10 || it.Event == nil {
			t.Errorf("%+v passed %d buffers, and credit is for 10", it, len(passed))
		}
		wantNumbers(t, "overtaken and passed", append(got, passed...), upTo(n))

		p.out.send(0, n, p.out.MaxRecord())
		p.out.Emit(0, event(2, false))
		passed, got = nil, nil
		found := p.out.Promote(ofKind(2), urgently, netstack.Passing{Share: passed.share})
		it = p.in.next()
		if !found[0] || it.Event == nil || it.Event.Kind != netstack.FirstUserEvent+2 {
			t.Errorf("found %v, and %+v came", found, it)
		}
		at(it.Overtaken)
		wantNumbers(t, "overtaken and passed by the promoted event", append(got, passed...), upTo(n+1))

		p.in.Unblock(0)
		got = nil
		go p.out.finish()
		p.in.each(func(it netstack.Item) {
			if it.Event == nil {
				got.add(it.Buf)
			}
		})
		wantNumbers(t, "handed out", got, upTo(n+1))
		p.close()
	})
}

// TestPromotedEventsCountAsTaken: more of them than may wait in a channel go through
// one that is blocked all the time, at either end.
func TestPromotedEventsCountAsTaken(t *testing.T) {
	p := newPair(t, clusterOptions{}, netstack.PartitionOptions{Subpartitions: 1}, 1)
	p.in.Block(0)
	p.out.send(0, 0, 8)
	const batch = netstack.MaxEvents / 2
	for range 5 {
		for range batch {
			p.out.Emit(0, event(1, false))
		}
		p.out.Emit(0, event(2, true))
		if it := p.in.next(); it.Event == nil || it.Overtaken > 1+batch { // ordered ones may be behind it
			t.Fatalf("%+v came", it)
		}
		promoted := 0
		for promoted < batch {
			e, n, ok := p.in.Promote(0, ofKind(1))
			switch {
			case !ok:
				p.in.parker.Park(nil)
			case e == nil || n != 1:
				t.Fatalf("promoted %+v ahead of %d items", e, n)
			default:
				promoted++
			}
		}
	}
	p.in.Unblock(0)
	go p.out.finish()
	n := 0
	p.in.each(func(netstack.Item) { n++ })
	if n != 2 {
		t.Errorf("%d items came, want the record and the end", n)
	}
	p.close()
	select {
	case err := <-p.failed:
		t.Error(err)
	default:
	}
}

// TestRetainedBuffersHoldUpTheirChannelOnly until they are released: what is kept at
// the gate has no credit, whatever its consumer says.
func TestRetainedBuffersHoldUpTheirChannelOnly(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		const n = 60
		co.segment = 256
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1, Exclusive: n, MaxQueued: 2 * n}, 2)
		for i := range uint64(n) {
			p.out.send(0, i, p.out.MaxRecord())
		}
		p.out.Finish() // the end needs no credit, but stays behind the data
		var kept []bufferpool.Buffer
		var got firstNumbers
		take := func() (ok bool) {
			it, ok := p.in.Next()
			if ok && it.Event == nil {
				got.add(it.Buf)
				if len(kept) < 10 {
					kept = append(kept, it.Buf.Retain())
				}
				it.Buf.Release()
				p.in.Done(0)
			}
			return ok
		}
		for len(kept) < 10 { // all that the gate may have
			if !take() {
				p.in.parker.Park(nil)
			}
		}
		if take() {
			t.Errorf("buffer %d came while 10 were kept", len(got)-1)
		}
		var numbers firstNumbers
		for _, buf := range kept {
			numbers.add(buf)
			buf.Release()
		}
		wantNumbers(t, "kept", numbers, upTo(10))
		for p.in.Open() > 0 {
			if !take() {
				p.in.parker.Park(nil)
			}
		}
		wantNumbers(t, "handed out", got, upTo(n))
		p.out.Close()
		p.in.Close()
		p.close()
	})
}
