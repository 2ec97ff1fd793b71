package bufferpool

import (
	"os"
	"slices"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// idleMemory is what the arena knows of segments that lie free for long.
type idleMemory struct {
	low  int   // the fewest free segments since the last look: so many, at the bottom, have not moved
	from int   // the next look begins at this one of them
	cold stack // scratch of FreeIdle
}

const (
	idleBatch = 2 << 20 // bytes given back while the arena is locked
	idleLook  = 1 << 16 // segments looked at in one call
)

// FreeIdle gives the memory of segments back to the kernel that have lain free since the call
// before, or idle in a pool, and reports how many bytes it was. Nothing is taken from anybody:
// they stay in the arena, and have memory again when they are written to. Idle segments of
// pools that hold more than their minimum become free. Those that a pool's owner has within
// its own reach keep their memory.
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
	bytes += a.endLook()
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
	if m.from >= m.low {
		m.from = 0
	}
	end = min(m.low, m.from+idleLook)
	m.cold = append(m.cold[:0], a.mu.free[m.from:end]...)
	m.low, m.from = len(a.mu.free), end
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
	return a.discardSorted(list), true
}

// discardSorted gives the memory of segments back that nobody can get meanwhile.
func (a *Arena) discardSorted(list stack) (bytes int64) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[n-1]+1 {
			n++
		}
		bytes += a.discardRun(int(list[0]), n)
		list = list[n:]
	}
	return bytes
}

// discardRun gives back the pages of n neighbours that hold nothing else.
func (a *Arena) discardRun(first, n int) int64 {
	start, end := roundUp(first*a.segment), roundDown((first+n)*a.segment)
	if start >= end { // they are less than a page
		return 0
	}
	pages := a.mem[start:end]
	if invariant.Enabled {
		for i := first; i < first+n; i++ {
			invariant.Check(a.descs[i].gen == 0 || invariant.Poisoned(a.segmentOf(uint32(i))), "buffer %d was written to after its release", i)
		}
	}
	// What was given back may have come back: the kernel fills a huge page as a whole.
	bytes, ok := resident(pages)
	if !ok || bytes == 0 || discard(pages) != nil {
		return 0
	}
	invariant.Poison(pages) // whoever writes to it is still to be found
	return bytes
}

// endLook gives back what pools do not use.
func (a *Arena) endLook() (bytes int64) {
	a.mu.Lock()
	for _, p := range *a.pools.Load() {
		if p != nil && !p.gone {
			bytes += a.lookAt(p)
		}
	}
	a.mu.idle.low = len(a.mu.free)
	a.unlockAndWake()
	return bytes
}

// lookAt moves segments that have been idle in p since the last look to the free ones, as far
// as it holds more than its minimum, and gives the memory of the others back. Caller holds mu.
func (a *Arena) lookAt(p *Pool) (bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, still := p.mu.returned, 0
	for still < min(len(p.looked), len(now)) && p.looked[still] == now[still] {
		still++
	}
	a.reclaim(p, &p.mu.returned, min(still, p.held-p.opts.Min))
	list := p.mu.returned[:min(still, len(p.mu.returned), max(1, idleBatch/a.segment))]
	a.mu.idle.cold = append(a.mu.idle.cold[:0], list...)
	slices.Sort(a.mu.idle.cold)
	bytes = a.discardSorted(a.mu.idle.cold)
	p.looked = append(p.looked[:0], p.mu.returned...)
	return bytes
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

// Resident is how many bytes of the arena are in memory; ok is false where the system does not
// say: others than Linux. It asks the kernel about every page.
func (a *Arena) Resident() (bytes int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock() // nobody unmaps it
	return resident(a.mem)
}

func roundUp(n int) int   { return roundDown(n + os.Getpagesize() - 1) }
func roundDown(n int) int { return n &^ (os.Getpagesize() - 1) }
