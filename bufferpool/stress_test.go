package bufferpool_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Owners get and recycle, hand buffers to each other, share them, swap them and
// leave. Every buffer carries a stamp: whoever finds another one has been handed
// memory that was still in use.
func TestOwnersAndReleasersConcurrently(t *testing.T) {
	const owners, rounds = 4, 200
	a := newArena(t, 3*owners)
	wire := make(chan stamped, owners)
	var producers, consumers sync.WaitGroup
	for i := range owners {
		producers.Go(func() {
			for life := range 4 {
				p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 6, Overdraft: 1})
				produce(t, p, wire, rounds/4, uint64(i<<32|life<<16))
				p.Close()
			}
		})
		consumers.Go(func() {
			for s := range wire {
				s.check(t)
				s.buf.Release()
			}
		})
	}
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { // the ledger may be read at any time
		for {
			select {
			case <-stop:
				return
			default:
				_ = a.Ledger().String()
			}
		}
	})
	producers.Wait()
	close(wire)
	consumers.Wait()
	close(stop)
	watch.Wait()
	want(t, "free", a.Ledger().Free, a.Segments())
}

type stamped struct {
	buf   bufferpool.Buffer
	stamp uint64
}

func stamp(b bufferpool.Buffer, v uint64) stamped {
	binary.LittleEndian.PutUint64(b.Space(), v)
	b.SetLen(8)
	return stamped{buf: b, stamp: v}
}

func (s stamped) check(t *testing.T) {
	if s.buf.Len() != 8 || binary.LittleEndian.Uint64(s.buf.Payload()) != s.stamp {
		t.Errorf("stamp %x was overwritten: %x", s.stamp, s.buf.Payload())
	}
}

// produce sends n buffers, keeps one aside, and now and then swaps it.
func produce(t *testing.T, p *bufferpool.Pool, wire chan<- stamped, n int, base uint64) {
	wake := newSignal()
	var kept stamped
	for i := range n {
		b, ok := p.GetOverdraft()
		if !ok {
			b = await(p, wake)
		}
		s := stamp(b, base+uint64(i))
		b.SetState(bufferpool.Queued)
		switch i % 4 {
		case 0: // both may be the last to let go
			wire <- stamped{buf: b.Retain(), stamp: s.stamp}
			s.check(t)
			p.Recycle(b)
		case 1:
			if !kept.buf.IsZero() {
				bufferpool.Swap(kept.buf, b)
				kept.check(t)
				kept.buf.Release()
			}
			kept = s
		case 2:
			s.check(t)
			p.Recycle(b)
		default:
			wire <- s
		}
	}
	if !kept.buf.IsZero() {
		kept.buf.Release()
	}
}

// Closing a pool races with the release of what it has out.
func TestCloseRacesWithRelease(t *testing.T) {
	a := newArena(t, 8)
	for range 50 {
		p := newPool(t, a, bufferpool.PoolOptions{Min: 4, Max: 8})
		var wg sync.WaitGroup
		for _, b := range getAll(p) {
			wg.Go(b.Release)
		}
		wg.Go(p.Close)
		wg.Wait()
		want(t, "free", a.Ledger().Free, 8)
	}
}

// Closing the arena as soon as nothing is in use races with the end of the last
// Release: it must not touch memory that is gone.
func TestArenaCloseRacesWithRelease(t *testing.T) {
	for range 50 {
		a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: 4 * segment})
		if err != nil {
			t.Fatal(err)
		}
		b := mustGet(t, newPool(t, a, bufferpool.PoolOptions{Min: 1}))
		var wg sync.WaitGroup
		wg.Go(b.Release)
		for a.Close() != nil {
		}
		wg.Wait()
	}
}
