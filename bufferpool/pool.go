package bufferpool

import (
	"slices"
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

	// under arena.mu; held is changed with mu held too
	opts   PoolOptions
	held   int   // segments drawn from the arena: in use or idle here
	listed bool  // in arena.mu.waiting
	looked stack // mu.returned at the last FreeIdle
	gone   bool  // closed

	// owner
	local stack // idle segments; empty while the pool holds more than its minimum

	// atomic
	limit atomic.Int32 // segments it may hold
	slow  atomic.Bool  // put must see what is released; only the owner raises it

	// Taken after arena.mu.
	mu struct {
		sync.Mutex
		returned stack // idle segments within everybody's reach
		waiter   Waker
		floating bool // it holds more than its minimum
		over     bool // it holds more than its limit
		closed   bool
	}
}

// drawBatch is how many segments of its minimum a pool draws at once at most. Floating
// ones are drawn singly, since what one pool draws ahead another lacks.
const drawBatch = 8

// NewPool makes a pool. The error is a *BudgetError when the arena cannot reserve
// Min segments.
//
// The reservation is a promise about the future: what other pools hold beyond their
// own Min at this moment is not taken from them, but comes back as it is released.
// Make the pools that wait for each other's progress before any of them is used.
func (a *Arena) NewPool(o PoolOptions) (*Pool, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &Pool{arena: a, opts: o}
	p.opts.Max = p.bound(o.Max)
	p.opts.Overdraft = min(o.Overdraft, len(a.descs))
	p.local = make(stack, 0, max(1, min(o.Min, len(a.descs))))
	p.grow()
	if err := a.register(p); err != nil {
		return nil, err
	}
	return p, nil
}

// bound is a Max that makes sense.
func (p *Pool) bound(n int) int { return max(p.opts.Min, min(n, len(p.arena.descs))) }

// grow makes room for all that can be released. Caller holds mu, if others know p.
func (p *Pool) grow() {
	most := min(p.opts.Max+p.opts.Overdraft, len(p.arena.descs))
	p.mu.returned = slices.Grow(p.mu.returned, max(0, most-len(p.mu.returned)))
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

// mark brings what follows from held, limit and waiter up to date. Caller holds
// arena.mu and mu.
func (p *Pool) mark() {
	p.mu.floating = p.held > p.opts.Min
	p.mu.over = p.held > p.Limit()
	p.slow.Store(p.mu.floating || p.mu.waiter != nil || p.mu.closed)
}

// Get returns an empty buffer, if there is one.
func (p *Pool) Get() (Buffer, bool) {
	if len(p.local) == 0 && !p.refill(0) {
		return Buffer{}, false
	}
	return p.take(), true
}

// GetOverdraft returns a buffer beyond the pool's limit, if there is one.
func (p *Pool) GetOverdraft() (Buffer, bool) {
	if len(p.local) == 0 && !p.refill(p.opts.Overdraft) {
		return Buffer{}, false
	}
	return p.take(), true
}

func (p *Pool) take() Buffer {
	i := p.local.pop()
	d := &p.arena.descs[i]
	d.length = 0
	d.note(Open)
	if invariant.Enabled {
		invariant.Check(d.gen == 0 || invariant.Poisoned(p.arena.segmentOf(i)), "buffer %d of %q was written to after its release", i, p.opts.Name)
	}
	return Buffer{arena: p.arena, index: i, gen: d.gen}
}

// refill gets idle segments: those released elsewhere, else from the arena.
func (p *Pool) refill(overdraft int) bool {
	p.mu.Lock()
	ok := p.fetch()
	p.mu.Unlock()
	return ok || p.arena.draw(p, overdraft)
}

// fetch moves idle segments within the owner's reach alone: all of them, or the one
// that is needed now, while others have a right to the rest. Caller holds mu; local
// is empty.
func (p *Pool) fetch() bool {
	switch {
	case len(p.mu.returned) == 0 || p.mu.closed:
		return false
	case p.mu.floating:
		p.local.push(p.mu.returned.pop())
	default:
		p.local, p.mu.returned = append(p.local, p.mu.returned...), p.mu.returned[:0]
	}
	return true
}

// draw gets segments for p's owner. Both locks are held, so that what is released
// meanwhile is found here, or finds the pool marked as it is afterwards.
func (a *Arena) draw(p *Pool, overdraft int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fetch() {
		return true
	}
	n := min(a.batch(p), a.drawable(p, p.Limit()+overdraft))
	if n == 0 || p.mu.closed {
		return false
	}
	for range n {
		i := a.mu.free.pop()
		a.descs[i].pool.Store(p.id)
		a.descs[i].fits = 0
		p.local.push(i)
	}
	a.mu.idle.low = min(a.mu.idle.low, len(a.mu.free))
	a.hold(p, n)
	return true
}

// batch is how many segments p should draw at once. Caller holds mu.
func (a *Arena) batch(p *Pool) int {
	if len(a.mu.free) < a.mu.reserved {
		return 1 // what others were promised is out on loan: leave them what there is
	}
	return max(1, min(drawBatch, p.claim()))
}

// Available is a lower bound of how many Gets would succeed now.
func (p *Pool) Available() int {
	if len(p.local) > 0 {
		return len(p.local)
	}
	p.mu.Lock()
	n := len(p.mu.returned)
	p.mu.Unlock()
	if n > 0 {
		return n
	}
	a := p.arena
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drawable(p, p.Limit())
}

// Recycle is Release for the pool's owner: without other references, and while the
// pool holds no more than its minimum, it takes no lock. It takes b.
func (p *Pool) Recycle(b Buffer) {
	d := b.desc()
	if p.slow.Load() || d.pool.Load() != p.id || d.refs.Load() != 1 {
		b.Release()
		return
	}
	b.retire(d)
	d.note(Idle)
	p.local.push(b.index)
}

// put takes back a segment that nobody uses any more.
func (p *Pool) put(i uint32) {
	p.mu.Lock()
	if p.mu.closed || p.mu.over {
		p.mu.Unlock()
		p.arena.give(p, i)
		return
	}
	p.mu.returned.push(i)
	w := p.mu.waiter
	if w == nil {
		p.mu.Unlock()
		return
	}
	p.dropWaiter()
	p.mu.Unlock()
	w.Wake()
}

// SetMax changes how many segments the pool would like to hold.
func (p *Pool) SetMax(n int) {
	a := p.arena
	a.mu.Lock()
	if !p.gone {
		p.mu.Lock()
		p.opts.Max = p.bound(n)
		p.grow()
		p.mu.Unlock()
		a.share()
	}
	a.unlockAndWake()
}

// Close gives the pool's idle segments back; those in use follow when they are
// released. The owner must not use the pool any more. Closing twice is allowed.
func (p *Pool) Close() {
	a := p.arena
	a.mu.Lock()
	if !p.gone {
		p.mu.Lock()
		p.mu.closed, p.mu.waiter = true, nil
		a.reclaim(p, &p.local, len(p.local))
		a.reclaim(p, &p.mu.returned, len(p.mu.returned))
		p.mu.Unlock()
		a.unregister(p)
	}
	a.unlockAndWake()
}
