package bufferpool_test

import (
	"bytes"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
)

func TestBufferIsEmptyAndWhole(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	b := mustGet(t, p)
	if b.IsZero() || !(bufferpool.Buffer{}).IsZero() {
		t.Fatal("only the zero Buffer is none")
	}
	want(t, "length", b.Len(), 0)
	want(t, "payload area", len(b.Space()), a.PayloadSize())
	want(t, "segment", len(b.Segment()), a.SegmentSize())
	copy(b.Space(), "payload")
	b.SetLen(7)
	if got := string(b.Payload()); got != "payload" {
		t.Fatalf("payload %q", got)
	}
	want(t, "room of the payload", cap(b.Payload()), a.PayloadSize())
	want(t, "frame", len(b.Frame()), bufferpool.Headroom+7)
	if &b.Frame()[bufferpool.Headroom] != &b.Payload()[0] || &b.Segment()[0] != &b.Frame()[0] {
		t.Fatal("header and payload are not contiguous")
	}
	p.Recycle(b)
	b = mustGet(t, p)
	want(t, "length of a recycled buffer", b.Len(), 0)
	b.Release()
}

func TestSegmentsDoNotOverlap(t *testing.T) {
	a := newArena(t, 16)
	all := getAll(newPool(t, a, bufferpool.PoolOptions{Max: 16}))
	want(t, "buffers", len(all), 16)
	for i, b := range all {
		s := b.Segment()
		want(t, "capacity", cap(s), segment)
		for k := range s {
			s[k] = byte(i)
		}
	}
	for i, b := range all {
		if bytes.Count(b.Segment(), []byte{byte(i)}) != segment {
			t.Fatalf("segment %d was overwritten", i)
		}
	}
	release(all...)
}

func TestTheMostRecentIsReused(t *testing.T) {
	p := newPool(t, newArena(t, 8), bufferpool.PoolOptions{Min: 4})
	x, y := mustGet(t, p), mustGet(t, p)
	at := &y.Segment()[0]
	p.Recycle(x)
	p.Recycle(y)
	b := mustGet(t, p)
	if &b.Segment()[0] != at {
		t.Fatal("not the buffer that is likeliest in the cache")
	}
	b.Release()
}

func TestTheLastReferenceGivesBack(t *testing.T) {
	a := newArena(t, 2)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	b := mustGet(t, p)
	if b.Shared() {
		t.Fatal("a new buffer is shared")
	}
	shared := b.Retain()
	if !b.Shared() || !shared.Shared() {
		t.Fatal("not shared after Retain")
	}
	p.Recycle(b) // one reference less, by whatever way
	want(t, "in use", a.Held(), 1)
	want(t, "available", p.Available(), 0)
	if shared.Shared() {
		t.Fatal("shared with nobody")
	}
	shared.Release()
	want(t, "in use", a.Held(), 0)
	want(t, "available", p.Available(), 1)
}

func TestAvailableIsWhatCanBeGot(t *testing.T) {
	a := newArena(t, 12)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 3, Max: 9})
	want(t, "available at first", p.Available(), 9)
	all := getAll(p)
	want(t, "got", len(all), 9)
	want(t, "available at the limit", p.Available(), 0)
	release(all[:5]...)
	if n := p.Available(); n != 5 {
		t.Fatalf("available %d of 5 released", n)
	}
	again := getAll(p)
	want(t, "got again", len(again), 5)
	release(append(all[5:], again...)...)
}

func TestOverdraftGoesBeyondTheLimitAndBack(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 2, Overdraft: 3})
	all := getAll(p)
	want(t, "limit", len(all), 2)
	for range 3 {
		b, ok := p.GetOverdraft()
		if !ok {
			t.Fatal("no overdraft")
		}
		all = append(all, b)
	}
	if _, ok := p.GetOverdraft(); ok {
		t.Fatal("more than the overdraft")
	}
	if _, ok := p.Get(); ok {
		t.Fatal("Get beyond the limit")
	}
	for i, b := range all {
		p.Recycle(b)
		want(t, "held", p.HeldCount(), max(2, 4-i))
	}
	want(t, "held at last", p.HeldCount(), 2)
}

func TestOverdraftSparesWhatOthersWerePromised(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Overdraft: 100})
	q := newPool(t, a, bufferpool.PoolOptions{Min: 2})
	all := getAll(p)
	for {
		b, ok := p.GetOverdraft()
		if !ok {
			break
		}
		all = append(all, b)
	}
	want(t, "with overdraft", len(all), 2)
	theirs := getAll(q)
	want(t, "the other's minimum", len(theirs), 2)
	release(append(all, theirs...)...)
}

func TestSwapExchangesThePools(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Name: "p", Min: 1})
	q := newPool(t, a, bufferpool.PoolOptions{Name: "q", Min: 1})
	x, y := mustGet(t, p), mustGet(t, q)
	bufferpool.Swap(x, y)
	x.Release()
	want(t, "p, whose buffer is out", p.Available(), 0)
	want(t, "q, whose buffer came back", q.Available(), 1)
	p.Recycle(y)
	want(t, "p", p.Available(), 1)
}

func TestSwappedBuffersAreNotRecycledToAnotherPool(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	q := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	x, y := mustGet(t, p), mustGet(t, q)
	bufferpool.Swap(x, y)
	p.Recycle(x) // it is q's now
	want(t, "p", p.Available(), 0)
	want(t, "q", q.Available(), 1)
	y.Release()
}

func TestClosedPoolGivesEverythingBack(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Name: "p", Min: 4, Max: 8})
	all := getAll(p)
	p.Recycle(all[0])
	p.Close()
	p.Close()
	want(t, "free", a.Ledger().Free, 1)
	if _, ok := p.Get(); ok {
		t.Fatal("a buffer of a closed pool")
	}
	want(t, "limit", p.Limit(), 0)
	want(t, "pools that hold buffers", len(a.Ledger().Pools), 1)
	release(all[1:]...)
	want(t, "free", a.Ledger().Free, 8)
	want(t, "pools", len(a.Ledger().Pools), 0)
	p.SetMax(5)
	want(t, "limit", p.Limit(), 0)
}

// The id of a closed pool is free once nothing refers to it, and not before.
func TestNewPoolIsNotMistakenForAClosedOne(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 2})
	x, y := mustGet(t, p), mustGet(t, p)
	p.Close()
	x.Release()
	q := newPool(t, a, bufferpool.PoolOptions{Min: 2})
	y.Release()
	want(t, "the new pool holds", q.HeldCount(), 0)
	r := newPool(t, a, bufferpool.PoolOptions{Min: 2})
	z := mustGet(t, r)
	z.Release()
	want(t, "q holds", q.HeldCount(), 0)
	want(t, "in use", a.Held(), 0)
}

func TestWithoutMinimumAndMaximumThereIsNothing(t *testing.T) {
	p := newPool(t, newArena(t, 2), bufferpool.PoolOptions{})
	if _, ok := p.Get(); ok {
		t.Fatal("zero means unlimited")
	}
}

func TestPrefaultedArenaWorks(t *testing.T) {
	a, err := bufferpool.New(bufferpool.Options{Budget: 1 << 20, Prefault: true})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "segments", a.Segments(), 32)
	b := mustGet(t, newPool(t, a, bufferpool.PoolOptions{Min: 1}))
	if b.Space()[0] != 0 && !invariant.Enabled {
		t.Fatal("fresh memory is not zero")
	}
	b.Release()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}
