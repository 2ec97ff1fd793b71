package netstack

import (
	"sync/atomic"
	"time"
)

// Waker is woken when something that its owner waits for may have changed. Wake
// may be called by any goroutine, at any time, too often; it never blocks.
type Waker interface{ Wake() }

// Parker is the place where one goroutine waits. Any number of goroutines may
// Wake it; a Wake before Park makes Park return at once, so none is lost.
//
// The waiting side sleeps on the very flag that Wake swaps, never on the
// condition itself: between a look at a condition and going to sleep there is
// always a window.
//
// It does not spin before it sleeps. Between two goroutines on two processors that
// gained nothing for an exchange of full buffers, and it takes time from the others.
type Parker struct {
	state atomic.Uint32
	token chan struct{} // holds one: sent only by the Wake that found it parked
}

const (
	parkerRunning uint32 = iota
	parkerNotified
	parkerParked
)

// NewParker returns a Parker.
func NewParker() *Parker { return &Parker{token: make(chan struct{}, 1)} }

// Wake makes the current or the next Park return.
func (p *Parker) Wake() {
	if p.state.Load() == parkerNotified {
		return // somebody else's wake-up has not been consumed yet
	}
	if p.state.Swap(parkerNotified) == parkerParked {
		p.token <- struct{}{}
	}
}

// Notified reports whether a Park would return at once.
func (p *Parker) Notified() bool { return p.state.Load() == parkerNotified }

// Park waits for a Wake. When timeout is not nil, it also returns when that
// channel delivers; the result says whether a Wake came.
func (p *Parker) Park(timeout <-chan time.Time) bool {
	if !p.state.CompareAndSwap(parkerRunning, parkerParked) {
		p.state.Store(parkerRunning)
		return true
	}
	if timeout == nil || !p.expires(timeout) {
		<-p.token
		p.state.Store(parkerRunning)
		return true
	}
	return false
}

// expires waits until timeout, unless a Wake comes first: then its token is on the
// way, or there already.
func (p *Parker) expires(timeout <-chan time.Time) bool {
	select {
	case token := <-p.token:
		p.token <- token
		return false
	case <-timeout:
		return p.state.CompareAndSwap(parkerParked, parkerRunning)
	}
}
