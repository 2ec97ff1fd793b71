package operators_test

import (
	"bytes"
	"testing"

	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// assembled passes every record that has arrived at the first gate to f, however
// many buffers it spans.
func (p *pipe) assembled(t *testing.T, a *record.Assembler, f func(r *record.Record)) {
	g := p.gates[0]
	for item, ok := g.Next(); ok; item, ok = g.Next() {
		p.piece(t, a, item, f)
		item.Buf.Release()
		g.Done(item.Channel)
	}
}

func (p *pipe) piece(t *testing.T, a *record.Assembler, item netstack.Item, f func(r *record.Record)) {
	b := item.Buf.Payload()
	if item.Partial || a.Pending() {
		var err error
		if b, err = a.Add(b, !item.Partial); err != nil {
			t.Fatal(err)
		}
	}
	for it := record.Over(b); ; {
		ok, err := it.Next(&p.rec)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		f(&p.rec)
	}
	a.Done()
}

// Small and large records in every order arrive whole, with hash and time.
func TestRecordsOfAllSizesArriveWhole(t *testing.T) {
	p := newPipe(t, 1)
	codec, err := operators.CodecFor[[]byte]()
	if err != nil {
		t.Fatal(err)
	}
	edge, a := operators.Forward(p.ctx, p.out, codec), record.NewAssembler(1<<20)
	room := p.out.MaxRecord()
	sizes := []int{10, room / 2, room - 32, room - 16, room, room + 1, 3 * room, 3 * room, 5, room + 8, 10 * room, 0, 0, room, 1}
	for i, n := range sizes {
		v := bytes.Repeat([]byte{byte(i)}, n)
		p.ctx.Hash, p.ctx.HasTime, p.ctx.Time = uint32(i), i%2 == 0, int64(i)
		edge.Collect(v)
		p.out.Flush(0)
		seen := 0
		p.assembled(t, &a, func(r *record.Record) {
			got, err := codec.Decode(r.Payload)
			if err != nil || !bytes.Equal(got, v) || r.Hash != uint32(i) || r.HasTime != (i%2 == 0) || (r.HasTime && r.Time != int64(i)) {
				t.Fatalf("record %d of %d bytes: %d arrived, hash %d, time %v %d, error %v", i, n, len(got), r.Hash, r.HasTime, r.Time, err)
			}
			seen++
		})
		if seen != 1 {
			t.Fatalf("record %d of %d bytes arrived %d times", i, n, seen)
		}
	}
}

func TestLargeRecordsReuseScratch(t *testing.T) {
	if invariant.Enabled {
		t.Skip("checks box their arguments")
	}
	p := newPipe(t, 1)
	codec, _ := operators.CodecFor[[]byte]()
	edge, a := operators.Forward(p.ctx, p.out, codec), record.NewAssembler(1<<20)
	v := make([]byte, 3*p.out.MaxRecord())
	step := func() {
		edge.Collect(v)
		p.out.Flush(0)
		p.assembled(t, &a, func(*record.Record) {})
	}
	step()
	// Three scratches are used per record, of which -race drops some on purpose.
	if n := testing.AllocsPerRun(500, step); n > 4 {
		t.Fatalf("%v allocations per record", n)
	}
}
