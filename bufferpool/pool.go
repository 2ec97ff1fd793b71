package bufferpool

import (
	"sync"
	"sync/atomic"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// Pool is one owner's share of an arena. See the package comment for who may call
// what.
type Pool struct {
	// constant
	arena *Arena
	id    uint32

	// under arena.mu
	opts    PoolOptions
	held    int  // segments drawn from the arena: in use or idle here
	starves bool // listed in arena.mu.starving
	gone    bool // closed

	// owner
	local []uint32 // idle segments, most recently used last

	// atomic
	limit atomic.Int32 // segments it may hold
	over  atomic.Bool  // it holds more than that

	mu struct {
		sync.Mutex
		returned []uint32 // idle segments that other goroutines released
		waiter   Waker
		closed   bool
	}
}

// drawBatch is how many segments of its minimum a pool draws at once. Floating ones
// are drawn singly, since what one pool draws ahead another lacks.
const drawBatch = 8

// NewPool makes a pool. The error is a *BudgetError when the arena cannot reserve
// Min segments.
func (a *Arena) NewPool(o PoolOptions) (*Pool, error) {
	o.Max = max(o.Max, o.Min)
	p := &Pool{arena: a, opts: o}
	if err := a.register(p); err != nil {
		return nil, err
	}
	n := o.Max + o.Overdraft
	p.local = make([]uint32, 0, n)
	p.mu.returned = make([]uint32, 0, n)
	return p, nil
}

// Arena is the arena that the pool belongs to.
func (p *Pool) Arena() *Arena { return p.arena }

// Limit is the number of segments that the pool may hold at present.
func (p *Pool) Limit() int { return int(p.limit.Load()) }

// HeldCount is the number of segments that the pool holds, idle ones included.
func (p *Pool) HeldCount() int {
	p.arena.mu.Lock()
	defer p.arena.mu.Unlock()
	return p.held
}

// claim is what p may still draw of its minimum. Caller holds arena.mu.
func (p *Pool) claim() int { return max(0, p.opts.Min-p.held) }

// Get returns an empty buffer, if there is one.
func (p *Pool) Get() (Buffer, bool) {
	if len(p.local) == 0 && !p.refill(0) {
		return Buffer{}, false
	}
	return p.pop(), true
}

// GetOverdraft returns a buffer beyond the pool's limit, if there is one.
func (p *Pool) GetOverdraft() (Buffer, bool) {
	if len(p.local) == 0 && !p.refill(p.opts.Overdraft) {
		return Buffer{}, false
	}
	return p.pop(), true
}

func (p *Pool) pop() Buffer {
	last := len(p.local) - 1
	i := p.local[last]
	p.local = p.local[:last]
	d := &p.arena.descs[i]
	d.length = 0
	d.state.Store(uint32(Open))
	if invariant.Enabled {
		invariant.Check(invariant.Poisoned(p.arena.segmentOf(i)) || d.gen == 0, "buffer %d of %q was written to after its release", i, p.opts.Name)
	}
	return Buffer{arena: p.arena, index: i, gen: d.gen}
}

// refill gets idle segments: those released elsewhere, else from the arena.
func (p *Pool) refill(overdraft int) bool {
	p.mu.Lock()
	p.local, p.mu.returned = p.mu.returned, p.local
	p.mu.Unlock()
	if len(p.local) == 0 {
		n := 1
		if p.HeldCount() < p.opts.Min {
			n = min(drawBatch, p.opts.Min)
		}
		p.local = p.arena.draw(p, p.local, n, p.Limit()+overdraft)
	}
	return len(p.local) > 0
}

// Available is a lower bound of how many Gets would succeed now.
func (p *Pool) Available() int {
	if n := len(p.local); n > 0 {
		return n
	}
	p.refill(0)
	return len(p.local)
}

// NotifyAvailable registers w to be woken once when a Get may succeed. It returns
// false, and does not register, when a Get would succeed now.
func (p *Pool) NotifyAvailable(w Waker) bool {
	if len(p.local) > 0 {
		return false
	}
	p.mu.Lock()
	if len(p.mu.returned) > 0 {
		p.mu.Unlock()
		return false
	}
	p.mu.waiter = w
	p.mu.Unlock()
	if p.arena.starve(p) {
		return true
	}
	p.mu.Lock()
	p.mu.waiter = nil
	p.mu.Unlock()
	return false
}

// wake wakes the waiter, if there is one.
func (p *Pool) wake() {
	p.mu.Lock()
	w := p.mu.waiter
	p.mu.waiter = nil
	p.mu.Unlock()
	if w != nil {
		w.Wake()
	}
}

// put takes back a segment that nobody uses any more.
func (p *Pool) put(i uint32) {
	p.mu.Lock()
	if p.mu.closed || p.mustGive() {
		p.mu.Unlock()
		p.arena.give(p, i)
		return
	}
	p.mu.returned = append(p.mu.returned, i)
	w := p.mu.waiter
	p.mu.waiter = nil
	p.mu.Unlock()
	if w != nil {
		w.Wake()
	}
}

// mustGive reports whether a released segment belongs to the arena: the pool is
// over its limit, or others starve and it can do with less than it holds.
func (p *Pool) mustGive() bool {
	if p.over.Load() {
		return true
	}
	if p.arena.starving.Load() == 0 {
		return false
	}
	p.arena.mu.Lock()
	defer p.arena.mu.Unlock()
	return p.held > p.opts.Min && !p.starves
}

// Recycle is Release for the pool's owner: without other references it takes no
// lock. It takes b.
func (p *Pool) Recycle(b Buffer) {
	d := b.desc()
	if d.pool.Load() != p.id || d.refs.Load() != 1 || p.over.Load() || p.arena.starving.Load() > 0 {
		b.Release()
		return
	}
	b.retire(d)
	p.local = append(p.local, b.index)
}

// SetMax changes how many segments the pool would like to hold.
func (p *Pool) SetMax(n int) {
	a := p.arena
	a.mu.Lock()
	p.opts.Max = max(n, p.opts.Min)
	a.share()
	fed := a.fed()
	a.mu.Unlock()
	for _, w := range fed {
		w.wake()
	}
}

// Close gives the pool's idle segments back; those in use follow when they are
// released. The owner must not use the pool any more. Closing twice is allowed.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.mu.closed {
		p.mu.Unlock()
		return
	}
	p.mu.closed, p.mu.waiter = true, nil
	idle := append(p.local, p.mu.returned...)
	p.local, p.mu.returned = nil, nil
	p.mu.Unlock()
	p.arena.give(p, idle...)
	p.arena.unregister(p)
}
