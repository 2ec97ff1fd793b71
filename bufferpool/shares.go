package bufferpool

import "slices"

// register gives p an id and works out everybody's share anew.
func (a *Arena) register(p *Pool) error {
	a.mu.Lock()
	defer a.unlockAndWake() // the division's rest may go to another pool than before, which waits
	if a.mu.closed {
		return ErrClosed
	}
	if need := a.mu.minimum + p.opts.Min; need > len(a.descs) {
		return &BudgetError{
			Pool: p.opts.Name, Needed: need, Available: len(a.descs),
			Segment: a.segment, Budget: int64(need) * int64(a.segment),
		}
	}
	pools := slices.Clone(*a.pools.Load())
	id := slices.Index(pools, nil)
	if id < 0 {
		id, pools = len(pools), append(pools, nil)
	}
	p.id, pools[id] = uint32(id), p
	a.pools.Store(&pools)
	a.mu.waiting = slices.Grow(a.mu.waiting, len(pools)-len(a.mu.waiting)) // so that waiting allocates nothing
	a.mu.minimum += p.opts.Min
	a.mu.reserved += p.claim()
	a.share()
	return nil
}

// unregister takes p's share away. Caller holds mu.
func (a *Arena) unregister(p *Pool) {
	a.mu.reserved -= p.claim()
	a.mu.minimum -= p.opts.Min
	p.opts.Min, p.opts.Max, p.gone = 0, 0, true
	a.forget(p)
	a.share()
}

// forget frees the id of a closed pool once its last buffer is back. Caller holds mu.
func (a *Arena) forget(p *Pool) {
	if !p.gone || p.held > 0 {
		return
	}
	pools := slices.Clone(*a.pools.Load())
	if pools[p.id] == p {
		pools[p.id] = nil
		a.pools.Store(&pools)
	}
}

// share works out the limits of all pools: each has its minimum, and what is left
// of the arena is split in proportion to what each would like beyond. What the
// division leaves over goes to those that it leaves without any, then to the oldest.
// Caller holds mu.
//
// The limits add up to no more than there is. So a pool below its limit lacks a
// segment only while another one is above its own (for its limit fell, it overdrew,
// or it is closed), and what such a pool releases goes to the arena.
func (a *Arena) share() {
	pools := *a.pools.Load()
	surplus, wanted := len(a.descs)-a.mu.minimum, 0
	for _, p := range pools {
		if p != nil {
			wanted += p.opts.Max - p.opts.Min
		}
	}
	rest, without := surplus, 0
	for _, p := range pools {
		if p == nil {
			continue
		}
		extra := p.extra(surplus, wanted)
		rest -= extra
		if extra == 0 && p.opts.Max > p.opts.Min {
			without++
		}
	}
	without = min(without, rest)
	for _, p := range pools {
		if p == nil {
			continue
		}
		extra := p.extra(surplus, wanted)
		switch {
		case extra == p.opts.Max-p.opts.Min:
		case extra == 0 && without > 0:
			extra, rest, without = 1, rest-1, without-1
		case extra > 0 && rest > without:
			extra, rest = extra+1, rest-1
		}
		a.setLimit(p, p.opts.Min+extra)
	}
}

// extra is p's part of the surplus, rounded down.
func (p *Pool) extra(surplus, wanted int) int {
	want := p.opts.Max - p.opts.Min
	if wanted > surplus {
		return want * surplus / wanted
	}
	return want
}

// setLimit changes p's limit, and takes what is idle beyond it: its owner may not
// come by for long. Caller holds mu.
func (a *Arena) setLimit(p *Pool, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit.Store(int32(n))
	p.mark()
	a.reclaim(p, &p.mu.returned, p.held-n)
}

// reclaim moves up to n of p's idle segments to the free ones. Caller holds mu and
// p.mu.
func (a *Arena) reclaim(p *Pool, from *stack, n int) {
	n = min(n, len(*from))
	if n <= 0 {
		return
	}
	for range n {
		a.mu.free.push(from.pop())
	}
	a.hold(p, -n)
}
