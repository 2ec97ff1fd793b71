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

	prefault bool // its memory is never given back

	// atomic
	pools atomic.Pointer[[]*Pool] // by id; replaced, never changed
	freed atomic.Int64            // bytes given back to the kernel

	// Taken before a pool's mu, never after it.
	mu struct {
		sync.Mutex
		free     stack   // segments that no pool holds
		reserved int     // what pools may still claim of their minimum
		minimum  int     // sum of all pools' Min
		waiting  []*Pool // pools with a waiter (or that had one), oldest first
		closed   bool
		idle     idleMemory
	}
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
	a := &Arena{mem: mem, segment: o.SegmentSize, descs: make([]desc, n), prefault: o.Prefault}
	a.pools.Store(&[]*Pool{})
	a.mu.free = make(stack, 0, n)
	for i := n - 1; i >= 0; i-- { // the lowest addresses leave first
		a.descs[i].refs.Store(1)
		a.mu.free.push(uint32(i))
	}
	a.mu.idle.low = n
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

// Close unmaps the arena; closing twice is allowed. When buffers are still in use it
// returns a *LeakError and leaves the memory mapped, for their users are still there.
// The owners of pools must have stopped.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed {
		return nil
	}
	if ledger := a.ledger(); ledger.InUse > 0 {
		return &LeakError{Ledger: ledger}
	}
	mem := a.mem
	a.mem, a.mu.closed = nil, true // use after Close panics instead of faulting
	return unix.Munmap(mem)
}

func (a *Arena) segmentOf(i uint32) []byte {
	start := int(i) * a.segment
	return a.mem[start : start+a.segment : start+a.segment]
}

// drawable is how many segments p may draw now, up to limit. What other pools may
// still claim of their minimum is out of reach; its own claim is not, even when
// floating segments are out that others' minimum needs. Caller holds mu.
func (a *Arena) drawable(p *Pool, limit int) int {
	if a.mu.closed {
		return 0
	}
	free, claim := len(a.mu.free), p.claim()
	n := max(min(free, claim), free-(a.mu.reserved-claim))
	return max(0, min(n, limit-p.held))
}

// hold changes what p holds by n segments. Caller holds mu and p.mu.
func (a *Arena) hold(p *Pool, n int) {
	before := p.claim()
	p.held += n
	a.mu.reserved += p.claim() - before
	p.mark()
}

// give takes a segment back from p and wakes those who can have it.
func (a *Arena) give(p *Pool, i uint32) {
	a.mu.Lock()
	p.mu.Lock()
	a.mu.free.push(i)
	a.hold(p, -1)
	p.mu.Unlock()
	a.forget(p)
	a.unlockAndWake()
}

// unlockAndWake releases mu and wakes every waiter whose pool can draw now, the
// oldest first. It does not ration: a pool that is woken may no longer want what
// there is, and then a waiter passed over would sleep for ever.
func (a *Arena) unlockAndWake() {
	for w := a.nextFed(); w != nil; w = a.nextFed() {
		a.mu.Unlock()
		w.Wake()
		a.mu.Lock()
	}
	a.mu.Unlock()
}

// nextFed unlists the first waiter whose pool can draw. Caller holds mu.
func (a *Arena) nextFed() Waker {
	for k := 0; k < len(a.mu.waiting); {
		p := a.mu.waiting[k]
		if !p.unwaited() && a.drawable(p, p.Limit()) == 0 {
			k++
			continue
		}
		a.unlist(k)
		if w := p.takeWaiter(); w != nil {
			return w
		}
	}
	return nil
}

// unlist removes the k-th of the waiting pools. Caller holds mu.
func (a *Arena) unlist(k int) {
	w := a.mu.waiting
	w[k].listed = false
	copy(w[k:], w[k+1:])
	w[len(w)-1] = nil
	a.mu.waiting = w[:len(w)-1]
}
