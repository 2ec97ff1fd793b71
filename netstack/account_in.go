package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// InputStats is a gate's account, for one of its inputs, so far.
type InputStats struct {
	Buffers, Bytes uint64 // handed out; what was since the gate last looked at its inbox, a turn at most, is not counted yet

	// Queue is for how long, in nanoseconds, buffers have waited in the gate. It is
	// shared: any goroutine may read it at any time. It is nil if no account of times is
	// kept.
	Queue *perf.Histogram
}

// inAccount is what a gate keeps for its account.
type inAccount struct {
	// constant
	clock perf.Clock
	queue []perf.Histogram // by input

	// subtask goroutine
	read []read
}

// read counts what was handed out.
type read struct{ buffers, bytes uint64 }

func newInAccount(o GateOptions) *inAccount {
	n := len(o.Inputs)
	return &inAccount{clock: o.Clock, queue: make([]perf.Histogram, n), read: make([]read, n)}
}

// Stats returns the account of an input so far. Any goroutine may call it.
func (g *Gate) Stats(input int) InputStats {
	if g.account == nil {
		return InputStats{}
	}
	g.inbox.Lock()
	defer g.inbox.Unlock()
	n := g.inbox.read[input]
	return InputStats{Buffers: n.buffers, Bytes: n.bytes, Queue: &g.account.queue[input]}
}

// took accounts for a buffer that is handed out, and returns the time.
func (a *inAccount) took(input int, it item) time.Duration {
	now := a.clock.Now()
	a.queue[input].Record(int64(now - it.at))
	n := &a.read[input]
	n.buffers++
	n.bytes += uint64(it.buf.Len())
	return now
}

// arrived notes when the arrivals from index before on have come. Caller holds the
// inbox.
func (g *Gate) arrived(before int, now time.Duration) {
	for i := range g.inbox.arrivals[before:] {
		g.inbox.arrivals[before+i].at = now
	}
}
