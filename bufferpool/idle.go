package bufferpool

import (
	"os"
	"slices"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// idleMemory is what the arena knows of segments that lie free for long.
type idleMemory struct {
	low   int   // the fewest free segments since the last look: so many, at the bottom, have not moved
	blank int   // so many at the bottom have been given back, or were never used
	cold  stack // scratch of FreeIdle
}

const (
	idleBatch = 2 << 20 // bytes given back while the arena is locked
	idleLook  = 1 << 16 // segments looked at in one call
)

// FreeIdle gives the memory of segments back to the kernel that have lain free since the call
// before, and reports how many bytes it was. Nothing is taken from anybody: they stay in the
// arena, and have memory again when they are written to. Idle segments of pools that hold
// more than their minimum, which have not moved since then either, become free.
//
// Call it every few seconds, from one goroutine. Getting and releasing buffers costs no
// more for it. It does nothing to an arena with Prefault, and on systems other than Linux.
func (a *Arena) FreeIdle() (bytes int64) {
	if !canDiscard || a.prefault {
		return 0
	}
	cold, end := a.coldSegments()
	slices.Sort(cold) // neighbours go together
	batch := max(1, idleBatch/a.segment)
	for len(cold) > 0 {
		n := min(batch, len(cold))
		freed, ok := a.discardFree(cold[:n], end)
		if !ok {
			break
		}
		bytes += freed
		cold = cold[n:]
	}
	a.endLook(end, len(cold) == 0)
	a.freed.Add(bytes)
	return bytes
}

// FreedBytes is what FreeIdle and Buffer.Fit have given back so far.
func (a *Arena) FreedBytes() int64 { return a.freed.Load() }

// coldSegments are free ones that have not moved since the last look, and begins the next one:
// while there are at least end free segments, they do not.
func (a *Arena) coldSegments() (cold stack, end int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := &a.mu.idle
	m.blank = min(m.blank, m.low)
	end = min(m.low, m.blank+idleLook)
	m.cold = append(m.cold[:0], a.mu.free[m.blank:end]...)
	m.low = len(a.mu.free)
	return m.cold, end
}

// discardFree gives the memory of free segments back, unless somebody has drawn from the lowest
// end ones.
func (a *Arena) discardFree(list stack, end int) (bytes int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed || a.mu.idle.low < end {
		return 0, false
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[n-1]+1 {
			n++
		}
		bytes += a.discardRun(int(list[0]), n)
		list = list[n:]
	}
	return bytes, true
}

// discardRun gives back the pages of n neighbours that hold nothing else.
func (a *Arena) discardRun(first, n int) int64 {
	start, end := first*a.segment, (first+n)*a.segment
	pages := a.mem[roundUp(start):roundDown(end)]
	if invariant.Enabled {
		for i := first; i < first+n; i++ {
			invariant.Check(a.descs[i].gen == 0 || invariant.Poisoned(a.segmentOf(uint32(i))), "buffer %d was written to after its release", i)
		}
	}
	if len(pages) == 0 || discard(pages) != nil {
		return 0
	}
	invariant.Poison(pages) // whoever writes to it is still to be found
	return int64(len(pages))
}

// endLook notes what has been given back, and lets pools give back what they do not use.
func (a *Arena) endLook(end int, done bool) {
	a.mu.Lock()
	if done && a.mu.idle.low >= end {
		a.mu.idle.blank = end
	}
	for _, p := range *a.pools.Load() {
		if p != nil && !p.gone {
			a.reclaimIdle(p)
		}
	}
	a.mu.idle.low = len(a.mu.free)
	a.unlockAndWake()
}

// reclaimIdle moves segments that have been idle in p since the last look to the free ones, as
// far as it holds more than its minimum. Caller holds mu.
func (a *Arena) reclaimIdle(p *Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	still := 0
	for still < min(len(p.looked), len(p.mu.returned)) && p.looked[still] == p.mu.returned[still] {
		still++
	}
	a.reclaim(p, &p.mu.returned, min(still, p.held-p.opts.Min))
	p.looked = append(p.looked[:0], p.mu.returned...)
}

// Fit says that the buffer will hold at most n bytes of payload. Memory behind them that was
// used before is given back to the kernel, if it is much. Only a buffer's sole owner may,
// before it writes; the buffers of a pool that calls it must all go through it.
func (b Buffer) Fit(n int) {
	d, a := b.desc(), b.arena
	most := uint32(a.segment)
	fits := d.fits
	if fits == 0 { // from another pool, which may have used it all
		fits = most
	}
	end := min(most, uint32(roundUp(Headroom+n)))
	d.fits = fits
	if end >= fits {
		d.fits = end
		return
	}
	if !canDiscard || a.prefault || fits-end < most/4 {
		return
	}
	// Segments that are no multiple of a page are all smaller than one.
	if tail := b.Segment()[end:fits]; discard(tail) == nil {
		a.freed.Add(int64(len(tail)))
		d.fits = end
	}
}

func roundUp(n int) int   { return roundDown(n + os.Getpagesize() - 1) }
func roundDown(n int) int { return n &^ (os.Getpagesize() - 1) }
