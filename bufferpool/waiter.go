package bufferpool

// NotifyAvailable registers w, in place of an earlier one, to be woken once when a
// Get may succeed. It returns false, and does not register, when a Get would succeed
// now. The pool keeps w until then or until Close.
func (p *Pool) NotifyAvailable(w Waker) bool {
	if len(p.local) > 0 {
		return false
	}
	a := p.arena
	a.mu.Lock()
	defer a.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.returned) > 0 || a.drawable(p, p.Limit()) > 0 {
		return false
	}
	p.mu.waiter = w
	p.mark()
	if !p.listed {
		p.listed = true
		a.mu.waiting = append(a.mu.waiting, p)
	}
	return true
}

// dropWaiter forgets the waiter. Caller holds mu.
func (p *Pool) dropWaiter() {
	p.mu.waiter = nil
	p.slow.Store(p.mu.floating || p.mu.closed)
}

// takeWaiter returns the waiter, if there still is one, and forgets it.
func (p *Pool) takeWaiter() Waker {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.mu.waiter
	p.dropWaiter()
	return w
}

// unwaited reports whether the waiter has been woken meanwhile.
func (p *Pool) unwaited() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.waiter == nil
}
