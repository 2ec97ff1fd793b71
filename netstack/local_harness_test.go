package netstack_test

import (
	"encoding/binary"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/perf"
	"go.uber.org/goleak"
)

// alarm is a Waker that counts.
type alarm struct{ rung int }

func (a *alarm) Wake() { a.rung++ }

// local joins every partition to every gate in one process: subpartition j of
// partition i is channel i of gate j.
type local struct {
	t     testing.TB
	arena *bufferpool.Arena
	outs  []*netstack.Partition
	ins   []*netstack.Gate
}

// localOptions are templates: widths and wakers that are not set are filled in. An
// unset Wait fails the test.
type localOptions struct {
	partitions, gates int // default 1
	segment, segments int // bytes, number; defaults 256 and 1024
	out               netstack.PartitionOptions
	in                netstack.GateOptions
}

func newLocal(t testing.TB, lo localOptions) *local {
	t.Helper()
	orDefault := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	orDefault(&lo.partitions, 1)
	orDefault(&lo.gates, 1)
	orDefault(&lo.segment, 256)
	orDefault(&lo.segments, 1024)
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: lo.segment, Budget: int64(lo.segment) * int64(lo.segments)})
	must(t, err)
	l := &local{t: t, arena: arena}
	if lo.out.Clock == nil { // as in a job
		lo.out.Clock = perf.NewClock()
		lo.in.Clock = lo.out.Clock
	}
	for range lo.partitions {
		l.addPartition(lo)
	}
	for j := range lo.gates {
		l.addGate(lo)
		for i, p := range l.outs {
			netstack.ConnectLocal(p, j, l.ins[j], i)
		}
	}
	return l
}

func (l *local) addPartition(lo localOptions) {
	o := lo.out
	o.Subpartitions = lo.gates
	if o.Waker == nil {
		o.Waker = &alarm{}
	}
	if o.Wait == nil {
		o.Wait = func() { l.t.Fatal("a partition waits for a buffer") }
	}
	p, err := netstack.NewPartition(l.arena, o)
	must(l.t, err)
	l.outs = append(l.outs, p)
}

func (l *local) addGate(lo localOptions) {
	o := lo.in
	if o.Inputs == nil {
		o.Inputs = []int{lo.partitions}
	}
	if o.Waker == nil {
		o.Waker = &alarm{}
	}
	g, err := netstack.NewGate(o)
	must(l.t, err)
	l.ins = append(l.ins, g)
}

// close closes everything and checks that no buffer and no goroutine is left.
func (l *local) close() {
	l.t.Helper()
	for _, p := range l.outs {
		p.Close()
	}
	for _, g := range l.ins {
		g.Close()
	}
	if n := l.arena.Held(); n != 0 {
		l.t.Errorf("%d buffers are held:\n%v", n, l.arena.Ledger())
	}
	must(l.t, l.arena.Close())
	if t, ok := l.t.(*testing.T); ok {
		goleak.VerifyNone(t)
	}
}

// numbered is a record whose payload of n bytes begins with its number, and is
// filled with bytes that follow from it.
func numbered(number uint64, n int) record.Record {
	payload := make([]byte, max(8, n))
	binary.LittleEndian.PutUint64(payload, number)
	for i := range payload[8:] {
		payload[8+i] = byte(number) + byte(i)
	}
	return record.Record{Payload: payload}
}

// number reads a record's number and checks its bytes.
func number(t testing.TB, r *record.Record) uint64 {
	n := binary.LittleEndian.Uint64(r.Payload)
	for i, b := range r.Payload[8:] {
		if b != byte(n)+byte(i) {
			t.Fatalf("record %d: byte %d of %d is %#x, want %#x", n, 8+i, len(r.Payload), b, byte(n)+byte(i))
		}
	}
	return n
}

// write writes a record, cut over several buffers if it has to be.
func write(p *netstack.Partition, sub int, r record.Record) {
	n := record.Size(len(r.Payload), r.HasTime)
	if n > p.MaxRecord() {
		p.WriteLarge(sub, record.Append(nil, r))
		return
	}
	record.Append(p.Space(sub, n)[:0], r)
	p.Commit(sub, n)
}

// reader takes a gate's buffers apart.
type reader struct {
	t     testing.TB
	gate  *netstack.Gate
	large map[int]*record.Assembler
}

func newReader(t testing.TB, g *netstack.Gate) *reader {
	return &reader{t: t, gate: g, large: map[int]*record.Assembler{}}
}

// records gives f all records that are complete with this item, and releases it.
func (r *reader) records(it netstack.Item, f func(*record.Record)) {
	r.parse(it, f)
	r.done(it)
}

func (r *reader) parse(it netstack.Item, f func(*record.Record)) {
	b := it.Buf.Payload()
	if a := r.large[it.Channel]; it.Partial || (a != nil && a.Pending()) {
		if a == nil {
			fresh := record.NewAssembler(1 << 20)
			a = &fresh
			r.large[it.Channel] = a
		}
		whole, err := a.Add(b, !it.Partial)
		must(r.t, err)
		b = whole
	}
	var rec record.Record
	i := record.Over(b) // not in the loop's clause: it would be copied each time
	for {
		ok, err := i.Next(&rec)
		if err != nil {
			r.t.Fatal(err)
		}
		if !ok {
			return
		}
		f(&rec)
	}
}

func (r *reader) done(it netstack.Item) {
	it.Buf.Release()
	r.gate.Done(it.Channel)
}

// rest reads until the gate has nothing, and returns the numbers of all records,
// by channel.
func (r *reader) rest() map[int][]uint64 {
	got := map[int][]uint64{}
	for {
		it, ok := r.gate.Next()
		if !ok {
			return got
		}
		if it.Event == nil {
			r.records(it, func(rec *record.Record) { got[it.Channel] = append(got[it.Channel], number(r.t, rec)) })
		}
	}
}
