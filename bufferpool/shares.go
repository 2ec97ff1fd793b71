package bufferpool

// register gives p an id and works out everybody's share anew.
func (a *Arena) register(p *Pool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed {
		return ErrClosed
	}
	if need := a.mu.minimum + p.opts.Min; need > len(a.descs) {
		return &BudgetError{
			Pool: p.opts.Name, Needed: need, Available: len(a.descs),
			Segment: a.segment, Budget: int64(need) * int64(a.segment),
		}
	}
	pools := append([]*Pool{}, *a.pools.Load()...)
	p.id = uint32(len(pools))
	for i, other := range pools {
		if other == nil {
			p.id = uint32(i)
		}
	}
	if int(p.id) == len(pools) {
		pools = append(pools, nil)
	}
	pools[p.id] = p
	a.pools.Store(&pools)
	a.mu.minimum += p.opts.Min
	a.mu.reserved += p.claim()
	a.share()
	return nil
}

// unregister takes p's share away. Its id is free once its last buffer is back.
func (a *Arena) unregister(p *Pool) {
	a.mu.Lock()
	a.mu.reserved -= p.claim()
	a.mu.minimum -= p.opts.Min
	p.opts.Min, p.opts.Max, p.gone = 0, 0, true
	for i, s := range a.mu.starving {
		if s == p {
			a.mu.starving = append(a.mu.starving[:i], a.mu.starving[i+1:]...)
			break
		}
	}
	a.forget(p)
	a.share()
	fed := a.fed()
	a.mu.Unlock()
	for _, w := range fed {
		w.wake()
	}
}

// forget frees the id of a closed pool that holds nothing. Caller holds mu.
func (a *Arena) forget(p *Pool) {
	if !p.gone || p.held > 0 {
		return
	}
	pools := append([]*Pool{}, *a.pools.Load()...)
	if pools[p.id] == p {
		pools[p.id] = nil
		a.pools.Store(&pools)
	}
}

// share works out the limits of all pools: each has its minimum, and what is left
// of the arena is split in proportion to what each would like beyond. Caller holds mu.
func (a *Arena) share() {
	surplus, wanted := len(a.descs)-a.mu.minimum, 0
	for _, p := range *a.pools.Load() {
		if p != nil {
			wanted += p.opts.Max - p.opts.Min
		}
	}
	for _, p := range *a.pools.Load() {
		if p == nil {
			continue
		}
		extra := p.opts.Max - p.opts.Min
		if wanted > surplus {
			extra = extra * surplus / wanted
		}
		p.limit.Store(int32(p.opts.Min + extra))
		p.over.Store(p.held > p.opts.Min+extra)
	}
}
