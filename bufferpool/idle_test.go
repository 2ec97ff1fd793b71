//go:build linux

package bufferpool_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/internal/invariant"
)

func idleArena(t *testing.T, segment, budget int) *bufferpool.Arena {
	t.Helper()
	a, err := bufferpool.New(bufferpool.Options{SegmentSize: segment, Budget: int64(budget)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func poolOf(t *testing.T, a *bufferpool.Arena, o bufferpool.PoolOptions) *bufferpool.Pool {
	t.Helper()
	p, err := a.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// takeFilled gets n buffers and fills them.
func takeFilled(t *testing.T, p *bufferpool.Pool, n int, fill byte) (list []bufferpool.Buffer) {
	t.Helper()
	for range n {
		b, ok := p.Get()
		if !ok {
			t.Fatalf("got %d buffers, want %d", len(list), n)
		}
		space := b.Space()
		space[0] = fill
		for n := 1; n < len(space); n *= 2 {
			copy(space[n:], space[:n])
		}
		b.SetLen(len(space))
		list = append(list, b)
	}
	return list
}

func releaseAll(list []bufferpool.Buffer) {
	for _, b := range list {
		b.Release()
	}
}

func residentOf(t *testing.T, a *bufferpool.Arena) int64 {
	t.Helper()
	n, ok := a.Resident()
	if !ok {
		t.Skip("the kernel does not say")
	}
	return n
}

const mib = 1 << 20

// Memory that was used in a burst goes back after three looks, and what is in use stays.
func TestIdleMemoryGoesBack(t *testing.T) {
	if invariant.Enabled {
		t.Skip("poison needs memory")
	}
	for _, segment := range []int{256, 32 << 10, 64 << 10} {
		a := idleArena(t, segment, 4*mib)
		if n := residentOf(t, a); n > 2*mib {
			t.Errorf("%d bytes are resident before anything is used", n)
		}
		p := poolOf(t, a, bufferpool.PoolOptions{Name: "burst", Min: 2, Max: a.Segments()})
		burst := takeFilled(t, p, a.Segments(), 1)
		if n := residentOf(t, a); n != 4*mib {
			t.Fatalf("%d bytes are resident in use, want all", n)
		}
		keep := burst[len(burst)-len(burst)/8:] // half a mebibyte stays in use
		releaseAll(burst[:len(burst)-len(keep)])
		var freed int64
		for range 3 { // idle in the pool, then free, then given back
			freed += a.FreeIdle()
		}
		// What is left are pages of those in use, and the pool's minimum.
		if n := residentOf(t, a); n > mib/2+8*int64(max(segment, 4096)) || freed < 3*mib {
			t.Errorf("segments of %d bytes: %d bytes are resident when idle, %d were given back", segment, n, freed)
		}
		if a.FreeIdle() != 0 {
			t.Error("memory was given back again that nobody has used")
		}
		if a.FreedBytes() != freed {
			t.Errorf("%d bytes are said to be given back, want %d", a.FreedBytes(), freed)
		}
		for _, b := range keep {
			if s := b.Space(); s[0] != 1 || !bytes.Equal(s[1:], s[:len(s)-1]) {
				t.Fatal("a buffer in use has lost what was in it")
			}
		}
		again := takeFilled(t, p, a.Segments()-len(keep), 2) // all of it can be used
		releaseAll(again)
		releaseAll(keep)
	}
}

// What moves between two looks stays.
func TestMemoryInUseNowAndThenStays(t *testing.T) {
	a := idleArena(t, 32<<10, 8*mib)
	p := poolOf(t, a, bufferpool.PoolOptions{Name: "busy", Max: a.Segments()})
	for range 5 {
		releaseAll(takeFilled(t, p, a.Segments(), 3))
		if n := a.FreeIdle(); n != 0 {
			t.Errorf("%d bytes were given back that had been used", n)
		}
		for range 3 {
			releaseAll(takeFilled(t, p, a.Segments(), 3)) // all of them, so that none lies still
		}
	}
}

// An arena that was to be touched at the start keeps its memory.
func TestPrefaultedMemoryStays(t *testing.T) {
	a, err := bufferpool.New(bufferpool.Options{Budget: mib, Prefault: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.NewPool(bufferpool.PoolOptions{Max: a.Segments()})
	if err != nil {
		t.Fatal(err)
	}
	releaseAll(takeFilled(t, p, a.Segments(), 1))
	for range 3 {
		if n := a.FreeIdle(); n != 0 {
			t.Errorf("%d bytes were given back", n)
		}
	}
	p.Close()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if a.FreeIdle() != 0 {
		t.Error("a closed arena has given something back")
	}
}

// Buffers that are filled less far give back what is behind.
func TestFitGivesBackWhatIsNotFilled(t *testing.T) {
	if invariant.Enabled {
		t.Skip("poison needs memory")
	}
	a := idleArena(t, 32<<10, 4*mib)
	p := poolOf(t, a, bufferpool.PoolOptions{Name: "fit", Max: a.Segments()})
	pattern := make([]byte, a.PayloadSize())
	for i := range pattern {
		pattern[i] = byte(i)
	}
	fit := func(n int) {
		for range 2 {
			var list []bufferpool.Buffer
			for range a.Segments() {
				b, ok := p.Get()
				if !ok {
					t.Fatal("no buffer")
				}
				b.Fit(n)
				copy(b.Space(), pattern[:n])
				b.SetLen(n)
				list = append(list, b)
			}
			for _, b := range list {
				if !bytes.Equal(b.Payload(), pattern[:n]) {
					t.Fatal("a payload is not what was written")
				}
			}
			releaseAll(list)
		}
	}
	releaseAll(takeFilled(t, p, a.Segments(), 1))
	for _, x := range []struct{ fill, want int }{{1000, 4096}, {a.PayloadSize(), 32 << 10}, {9000, 12 << 10}, {8000, 12 << 10}, {100, 4096}, {20_000, 20 << 10}} {
		fit(x.fill)
		if n, want := residentOf(t, a), int64(a.Segments()*x.want); n != want {
			t.Errorf("filled to %d bytes: %d bytes are resident, want %d", x.fill, n, want)
		}
	}
}

// Whatever is got and released meanwhile keeps what is written to it.
func TestIdleMemoryGoesBackWhileOthersWork(t *testing.T) {
	a := idleArena(t, 8<<10, 2*mib)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for i := range 3 {
		p := poolOf(t, a, bufferpool.PoolOptions{Name: "worker", Min: 4, Max: a.Segments()})
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			type held struct {
				b    bufferpool.Buffer
				mark byte
			}
			var list []held
			drop := func(x held) {
				if s := x.b.Payload(); len(s) > 0 && (s[0] != x.mark || !bytes.Equal(s[1:], s[:len(s)-1])) {
					t.Error("a buffer has lost what was in it")
				}
				x.b.Release()
			}
			for range 3000 {
				if b, ok := p.Get(); ok && r.IntN(2) == 0 {
					n := r.IntN(a.PayloadSize())
					b.Fit(n)
					b.SetLen(n)
					mark := byte(r.IntN(200))
					copy(b.Payload(), bytes.Repeat([]byte{mark}, n))
					list = append(list, held{b, mark})
				} else if ok {
					b.Release()
				}
				for len(list) > 0 && r.IntN(40) < len(list) {
					k := r.IntN(len(list))
					drop(list[k])
					list[k] = list[len(list)-1]
					list = list[:len(list)-1]
				}
			}
			for _, x := range list {
				drop(x)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-stop:
				return
			default:
				a.FreeIdle()
			}
		}
	}()
	all.Wait()
	close(stop)
	<-over
	if n := a.Held(); n != 0 {
		t.Errorf("%d buffers are held", n)
	}
}

// Segments that are less than a page have no page of their own.
func TestSegmentsWithoutAPageOfTheirOwnStay(t *testing.T) {
	for _, segment := range []int{256, 1024, 2048} {
		a := idleArena(t, segment, 64*segment)
		p := poolOf(t, a, bufferpool.PoolOptions{Min: 1, Max: 64})
		used := []bufferpool.Buffer{}
		for i, b := range takeFilled(t, p, 64, 7) {
			if i%2 == 0 { // no two neighbours are free
				b.Release()
				continue
			}
			used = append(used, b)
		}
		for range 5 {
			a.FreeIdle()
		}
		for _, b := range used {
			if !bytes.Equal(b.Payload(), bytes.Repeat([]byte{7}, b.Len())) {
				t.Fatal("a buffer in use has lost what was in it")
			}
			b.Release()
		}
	}
}
