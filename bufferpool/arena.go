package bufferpool

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Arena is the memory of all buffers of a worker.
type Arena struct {
	// constant
	mem     []byte // off the Go heap
	segment int
	descs   []desc

	// atomic
	pools    atomic.Pointer[[]*Pool] // by id; replaced, never changed
	starving atomic.Int32            // pools in mu.starving that are below their limit

	mu struct {
		sync.Mutex
		free     []uint32 // segments that no pool holds, most recently used last
		reserved int      // of free: what pools may still claim of their minimum
		minimum  int      // sum of all pools' Min
		starving []*Pool  // pools to wake when something is free, oldest first
		closed   bool
	}
}

// desc describes one segment. It holds no pointers.
type desc struct {
	refs   atomic.Int32  // 1 while idle or free, so that Get need not write it
	state  atomic.Uint32 // State
	pool   atomic.Uint32 // id of the pool that accounts for it
	length uint32        // of the payload, written by the buffer's owner
	gen    uint32        // counts releases, in builds with invariants
}

// New maps an arena.
func New(o Options) (*Arena, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	n := int(o.Budget / int64(o.SegmentSize))
	mem, err := unix.Mmap(-1, 0, n*o.SegmentSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("bufferpool: mapping %d bytes: %w (lower the network memory)", n*o.SegmentSize, err)
	}
	if err := advise(mem, o.Prefault); err != nil {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("bufferpool: touching %d bytes: %w (lower the network memory)", len(mem), err)
	}
	a := &Arena{mem: mem, segment: o.SegmentSize, descs: make([]desc, n)}
	a.pools.Store(&[]*Pool{})
	a.mu.free = make([]uint32, n)
	for i := range a.mu.free {
		a.mu.free[i] = uint32(n - 1 - i) // the lowest addresses leave first
		a.descs[i].refs.Store(1)
	}
	return a, nil
}

// SegmentSize is the size of a buffer in bytes, headroom included.
func (a *Arena) SegmentSize() int { return a.segment }

// PayloadSize is the number of bytes that a buffer holds.
func (a *Arena) PayloadSize() int { return a.segment - Headroom }

// Segments is the number of buffers there are.
func (a *Arena) Segments() int { return len(a.descs) }

// Held is the number of buffers in use: neither free nor idle in a pool.
func (a *Arena) Held() int { return a.Ledger().InUse }

// Close unmaps the arena. When buffers are still in use it returns a *LeakError and
// leaves the memory mapped, for their users are still there.
func (a *Arena) Close() error {
	ledger := a.Ledger()
	if ledger.InUse > 0 {
		return &LeakError{Ledger: ledger}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed {
		return nil
	}
	a.mu.closed = true
	return unix.Munmap(a.mem)
}

func (a *Arena) segmentOf(i uint32) []byte {
	start := int(i) * a.segment
	return a.mem[start : start+a.segment : start+a.segment]
}

// drawable is how many segments p may draw now, up to limit. Caller holds mu. What
// other pools may still claim of their minimum is out of reach.
func (a *Arena) drawable(p *Pool, limit int) int {
	free := len(a.mu.free) - (a.mu.reserved - p.claim())
	return max(0, min(free, limit-p.held))
}

// draw moves up to n segments to dst.
func (a *Arena) draw(p *Pool, dst []uint32, n, limit int) []uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, a.drawable(p, limit))
	if n == 0 {
		return dst
	}
	before := p.claim()
	p.held += n
	p.over.Store(p.held > int(p.limit.Load())) // by an overdraft
	a.mu.reserved += p.claim() - before
	rest := len(a.mu.free) - n
	for i := len(a.mu.free) - 1; i >= rest; i-- {
		seg := a.mu.free[i]
		a.descs[seg].pool.Store(p.id)
		dst = append(dst, seg)
	}
	a.mu.free = a.mu.free[:rest]
	return dst
}

// give takes segments back from p and wakes who starves for them.
func (a *Arena) give(p *Pool, segs ...uint32) {
	a.mu.Lock()
	before := p.claim()
	p.held -= len(segs)
	a.mu.reserved += p.claim() - before
	a.mu.free = append(a.mu.free, segs...)
	p.over.Store(p.held > int(p.limit.Load()))
	a.forget(p)
	fed := a.fed()
	a.mu.Unlock()
	for _, w := range fed {
		w.wake()
	}
}

// fed removes those starving pools that can draw now. Caller holds mu.
func (a *Arena) fed() (fed []*Pool) {
	if len(a.mu.starving) == 0 {
		return nil
	}
	left := a.mu.starving[:0]
	free := len(a.mu.free)
	for _, p := range a.mu.starving {
		if free > 0 && a.drawable(p, int(p.limit.Load())) > 0 {
			fed = append(fed, p)
			p.starves = false
			free--
		} else {
			left = append(left, p)
		}
	}
	clear(a.mu.starving[len(left):])
	a.mu.starving = left
	a.countStarving()
	return fed
}

// countStarving counts the starving pools that others can help: those below their
// limit. Caller holds mu.
func (a *Arena) countStarving() {
	n := 0
	for _, p := range a.mu.starving {
		if p.held < int(p.limit.Load()) {
			n++
		}
	}
	a.starving.Store(int32(n))
}

// starve lists p as waiting for segments, unless it can draw now. A pool at its
// limit waits for its own, or for a larger share.
func (a *Arena) starve(p *Pool) (waiting bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit := int(p.limit.Load())
	if a.drawable(p, limit) > 0 {
		return false
	}
	if !p.starves {
		p.starves = true
		a.mu.starving = append(a.mu.starving, p)
		a.countStarving()
	}
	return true
}
