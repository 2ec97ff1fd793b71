package bufferpool_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

// A writer goes on filling a buffer whose readers have all let go of what they were
// shown: its own reference keeps the memory from being handed out.
func TestScenario07_WriterFillsRecycledMemory(t *testing.T) {
	a := newArena(t, 2)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 2})
	b := mustGet(t, p)
	half := b.Space()[:a.PayloadSize()/2]
	fill(half, 1)
	readers := []bufferpool.Buffer{b.Retain(), b.Retain()}
	var wg sync.WaitGroup
	for _, r := range readers {
		wg.Go(r.Release)
	}
	for range 100 { // others get, fill and release whatever there is
		other := mustGet(t, p)
		fill(other.Segment(), 9)
		other.Release()
	}
	wg.Wait()
	other := mustGet(t, p)
	fill(other.Segment(), 9)
	fill(b.Space()[len(half):], 2)
	b.SetLen(a.PayloadSize())
	if !bytes.Equal(half, bytes.Repeat([]byte{1}, len(half))) {
		t.Fatal("the writer's memory was handed out")
	}
	if bytes.IndexByte(other.Segment(), 2) >= 0 {
		t.Fatal("the writer fills another's memory")
	}
	release(b, other)
}

func fill(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}

// The arena holds the minimums and one more. Senders start first and take all they
// can get, and give nothing back until every receiver has its own.
func TestScenario10_SendersHoldEveryBuffer(t *testing.T) {
	const senders, receivers, own = 3, 3, 2
	a := newArena(t, senders+receivers*own+1)
	var out, in []*bufferpool.Pool
	for range senders {
		out = append(out, newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 100, Overdraft: 100}))
	}
	for range receivers {
		in = append(in, newPool(t, a, bufferpool.PoolOptions{Min: own, Max: 100}))
	}
	var held []bufferpool.Buffer
	for _, p := range out {
		held = append(held, getAll(p)...)
		for b, ok := p.GetOverdraft(); ok; b, ok = p.GetOverdraft() {
			held = append(held, b)
		}
	}
	want(t, "senders hold", len(held), senders+1)
	for _, p := range in { // staggered: each starts after the one before has all it needs
		got := getAll(p)
		if len(got) < own {
			t.Fatalf("a receiver has %d of its %d buffers; %v", len(got), own, a.Ledger())
		}
		held = append(held, got...)
	}
	release(held...)
}

// The same, concurrently: a sender lets go of a buffer only when a receiver has one
// to move it to, and receivers start late.
func TestScenario10_StaggeredStart(t *testing.T) {
	const pairs, records = 3, 100
	a := newArena(t, 2*pairs+1)
	var out, in []*bufferpool.Pool
	for range pairs {
		out = append(out, newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 8}))
		in = append(in, newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 8}))
	}
	var wg sync.WaitGroup
	for i := range pairs {
		wire, full := make(chan bufferpool.Buffer, 8), make(chan struct{})
		wg.Go(func() {
			wake := newSignal()
			for n := range records {
				if n == 1 {
					close(full)
				}
				wire <- await(out[i], wake)
			}
			close(wire)
		})
		wg.Go(func() {
			<-full // the sender has begun
			wake := newSignal()
			for b := range wire {
				mine := await(in[i], wake)
				copy(mine.Space(), b.Space())
				b.Release()
				in[i].Recycle(mine)
			}
		})
	}
	wg.Wait()
}
