package netstack_test

import (
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

// hand is a clock that the test sets.
type hand struct{ now time.Duration }

func (h *hand) Now() time.Duration { return h.now }

func needsAccount(t *testing.T) {
	t.Helper()
	if !perf.Enabled {
		t.Skip("built with the tag noperf: no account is kept")
	}
}

// accounted is a partition with a gate, of 256-byte buffers, and a clock of the test's.
func accounted(t *testing.T, out netstack.PartitionOptions, in netstack.GateOptions) (*local, *hand) {
	needsAccount(t)
	clock := &hand{now: 1000}
	out.Clock, in.Clock = clock, clock
	return newLocal(t, localOptions{out: out, in: in}), clock
}

// wantTimes checks a histogram of times that it counts exactly.
func wantTimes(t *testing.T, name string, h *perf.Histogram, want ...time.Duration) {
	t.Helper()
	var all perf.Histogram
	for _, v := range want {
		all.Record(int64(v))
	}
	if got, want := h.Snapshot(), all.Snapshot(); got != want {
		t.Errorf("%s: %v, want %v", name, &got, &want)
	}
}

func TestAccountOfABufferThatHasCredit(t *testing.T) {
	l, clock := accounted(t, netstack.PartitionOptions{}, netstack.GateOptions{})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	write(p, 0, numbered(1, 100))
	clock.now += 30
	write(p, 0, numbered(2, 50))
	clock.now += 20
	p.Flush(clock.now)
	clock.now += 7
	it, _ := g.Next()
	if it.At != clock.now {
		t.Errorf("At = %v, want %v", it.At, clock.now)
	}
	bytes := uint64(it.Buf.Len())
	it.Buf.Release()
	g.Done(0)
	_, _ = g.Next() // looks at the inbox

	st := p.Stats()
	wantTimes(t, "FlushDelay", &st.Times.FlushDelay, 50)
	wantTimes(t, "out Queue", &st.Times.Queue, 0)
	wantTimes(t, "CreditWait", &st.Times.CreditWait)
	wantTimes(t, "BufferWait", &st.Times.BufferWait)
	st.Times = nil
	if want := (netstack.PartitionStats{Records: 2, Buffers: 1, Bytes: bytes, Credits: 9, Held: st.Held, Limit: st.Limit}); st != want {
		t.Errorf("%+v, want %+v", st, want)
	}
	in := g.Stats(0)
	wantTimes(t, "in Queue", in.Queue, 7)
	if in.Buffers != 1 || in.Bytes != bytes {
		t.Errorf("gate: %d buffers of %d bytes, want 1 of %d", in.Buffers, in.Bytes, bytes)
	}
}

func TestAccountOfWaitingForCredit(t *testing.T) {
	l, clock := accounted(t, netstack.PartitionOptions{}, netstack.GateOptions{Exclusive: 2, Floating: -1})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	send := func() { p.WriteLarge(0, make([]byte, 100)) } // seals its buffer
	send()
	send() // the credit is used up
	clock.now += 10
	send() // waits from now on
	clock.now += 5
	send()
	if st := p.Stats(); st.Queued != 2 || st.Starved != 1 || st.Credits != 0 {
		t.Fatalf("%+v, want 2 buffers that wait for credit", st)
	}
	clock.now += 100
	it, _ := g.Next()
	it.Buf.Release()
	g.Done(0) // grants credit for one
	clock.now += 40
	for it, ok := g.Next(); ok; it, ok = g.Next() {
		it.Buf.Release()
		g.Done(0)
	}
	st := p.Stats()
	wantTimes(t, "CreditWait", &st.Times.CreditWait, 105, 40)
	wantTimes(t, "out Queue", &st.Times.Queue, 0, 0, 105, 140)
	wantTimes(t, "in Queue", g.Stats(0).Queue, 115, 155, 40, 0)
	if st.Queued != 0 || st.Starved != 0 {
		t.Errorf("%+v, want an empty queue", st)
	}
}

func TestAccountTakesTheTimeThatItsCallerKnows(t *testing.T) {
	l, clock := accounted(t, netstack.PartitionOptions{Exclusive: 1, Floating: -1, Overdraft: -1}, netstack.GateOptions{})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	for n := uint64(0); p.Available(); n++ {
		write(p, 0, numbered(n, 200)) // fills a buffer
	}
	at := clock.now
	p.AwaitAt(at + 3)
	clock.now = at + 1000 // nobody may look
	it, ok := g.NextAt(at + 40)
	if !ok || it.At != at+40 {
		t.Fatalf("%v, at %v, want %v", ok, it.At, at+40)
	}
	it.Buf.Release()
	g.Done(0)
	p.Awaited(at + 53)
	if !p.Available() {
		t.Fatal("a buffer was released, and there is none")
	}
	_, _ = g.Next() // looks at the inbox
	wantTimes(t, "BufferWait", &p.Stats().Times.BufferWait, 50)
	in := g.Stats(0)
	if s := in.Queue.Snapshot(); s.Count() == 0 || s.Quantile(0) != 40 {
		t.Errorf("in Queue: %v, want 40 ns first", &s)
	}
}

func TestAccountOfWaitingForABuffer(t *testing.T) {
	woken := &alarm{}
	l, clock := accounted(t, netstack.PartitionOptions{Waker: woken, Exclusive: 1, Floating: -1, Overdraft: -1}, netstack.GateOptions{})
	defer l.close()
	p, g := l.outs[0], l.ins[0]
	for n := uint64(0); p.Available(); n++ {
		write(p, 0, numbered(n, 200)) // fills a buffer
	}
	clock.now += 3
	p.Await()
	clock.now += 50
	drain(l)
	if !p.Available() || woken.rung == 0 {
		t.Fatalf("available %v, woken %d times, want a buffer", p.Available(), woken.rung)
	}
	wantTimes(t, "BufferWait", &p.Stats().Times.BufferWait, 50)
	p.Flush(clock.now)
	drain(l)
	_, _ = g.Next()
}

func TestAccountBlockedInTheMiddleOfARecord(t *testing.T) {
	var l *local
	var clock *hand
	l, clock = accounted(t, netstack.PartitionOptions{Exclusive: 1, Floating: -1, Overdraft: -1, Wait: func() {
		clock.now += 70
		drain(l)
	}}, netstack.GateOptions{})
	defer l.close()
	p := l.outs[0]
	before := clock.now
	for n := uint64(0); clock.now == before; n++ {
		write(p, 0, numbered(n, 200))
	}
	wantTimes(t, "BufferWait", &p.Stats().Times.BufferWait, 70)
}

func TestAccountCountsABroadcastForEachReceiver(t *testing.T) {
	needsAccount(t)
	l := newLocal(t, localOptions{gates: 3, out: netstack.PartitionOptions{Broadcast: true}})
	defer l.close()
	p := l.outs[0]
	write(p, 0, numbered(1, 100))
	p.CommitMark(0, copy(p.Space(0, 16), make([]byte, 16)))
	p.Flush(0)
	if st := p.Stats(); st.Records != 3 || st.Buffers != 3 || st.Bytes%3 != 0 {
		t.Errorf("%+v, want 3 records in 3 buffers", st)
	}
	drain(l)
}

func TestAccountCountsALargeRecordOnce(t *testing.T) {
	l, _ := accounted(t, netstack.PartitionOptions{}, netstack.GateOptions{})
	defer l.close()
	p := l.outs[0]
	p.WriteLarge(0, make([]byte, 1000))
	if st := p.Stats(); st.Records != 1 || st.Buffers != 5 || st.Bytes != 1000 {
		t.Errorf("%+v, want 1 record of 1000 bytes in 5 buffers", st)
	}
	drain(l)
}

func TestAccountByInput(t *testing.T) {
	needsAccount(t)
	l := newLocal(t, localOptions{partitions: 3, in: netstack.GateOptions{Inputs: []int{1, 2}}})
	defer l.close()
	for _, p := range l.outs {
		write(p, 0, numbered(1, 100))
		p.Flush(0)
	}
	if a, b := l.ins[0].Stats(0).Queued, l.ins[0].Stats(1).Queued; a != 1 || b != 2 {
		t.Errorf("%d and %d buffers queued in the inbox, want 1 and 2", a, b)
	}
	it, _ := l.ins[0].Next()
	defer l.ins[0].Done(it.Channel)
	defer it.Buf.Release()
	if a, b := l.ins[0].Stats(0).Queued, l.ins[0].Stats(1).Queued; a != 1 || b != 2 {
		t.Errorf("%d and %d buffers queued in channels, want 1 and 2 until the next look", a, b)
	}
	drain(l)
	for input, want := range []uint64{1, 2} {
		if st := l.ins[0].Stats(input); st.Buffers != want || st.Queued != 0 {
			t.Errorf("input %d: %+v, want %d buffers, all read", input, st, want)
		}
	}
}

func TestAccountAcrossAConnection(t *testing.T) {
	needsAccount(t)
	const n = 400
	p := newPair(t, clusterOptions{}, netstack.PartitionOptions{Subpartitions: 2}, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range uint64(n) {
			p.out.send(int(i%2), i, p.out.MaxRecord())
		}
		p.out.finish()
	}()
	// Nobody reads: the credit is used up, and then the sender's buffers.
	waitUntil(t, "both channels to have no credit, and all buffers to be queued", func() bool {
		st := p.out.Stats()
		return st.Starved == 2 && st.Held == st.Limit && st.Queued >= st.Limit-2
	})
	p.in.each(func(it netstack.Item) {
		if it.Event == nil && it.At == 0 {
			t.Error("a buffer was handed out at no time")
		}
	})
	<-done
	out, in := p.out.Stats(), p.in.Stats(0)
	if out.Records != n || out.Buffers != n || in.Buffers != n || out.Bytes != in.Bytes || out.Queued != 0 || in.Queued != 0 {
		t.Errorf("sent %+v, received %+v, want %d records in as many buffers", out, in, n)
	}
	queue, flush, waits := out.Times.Queue.Snapshot(), out.Times.FlushDelay.Snapshot(), out.Times.CreditWait.Snapshot()
	if arrived := in.Queue.Snapshot(); arrived.Count() != n || queue.Count() != n || flush.Count() != n || waits.Count() < 2 || waits.Max() > queue.Max() {
		t.Errorf("in the gate %v, queued %v, flushed %v, without credit %v", &arrived, &queue, &flush, &waits)
	}
	p.close()
}

func TestNoAccountWithoutAClock(t *testing.T) {
	a := newArena(t, 256, 64)
	parker := netstack.NewParker()
	out, err := netstack.NewPartition(a, netstack.PartitionOptions{Subpartitions: 1, Waker: parker, Wait: func() { parker.Park(nil) }})
	must(t, err)
	in, err := netstack.NewGate(netstack.GateOptions{Inputs: []int{1}, Waker: parker})
	must(t, err)
	netstack.ConnectLocal(out, 0, in, 0)
	out.WriteLarge(0, make([]byte, 100))
	it, ok := in.Next()
	if !ok || it.At != 0 {
		t.Errorf("%+v, %v, want a buffer that was handed out at no time", it, ok)
	}
	it.Buf.Release()
	in.Done(0)
	if st := out.Stats(); st.Times != nil || in.Stats(0) != (netstack.InputStats{}) {
		t.Errorf("%+v, %+v, want no account", st, in.Stats(0))
	}
	out.Close()
	in.Close()
	wantNothingHeld(t, a)
}
