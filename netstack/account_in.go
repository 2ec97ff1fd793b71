package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// InputStats is a gate's account, for one of its inputs, so far. What was handed out
// since the gate last looked at its inbox, a turn at most, is not noticed yet.
type InputStats struct {
	Buffers, Bytes uint64 // handed out
	Queued         int    // data buffers that have arrived and were not handed out

	// Queue is for how long, in nanoseconds, buffers have waited in the gate. It is
	// shared: any goroutine may read it at any time, the latest values are added a few at a
	// time. It is nil if no account of times is kept.
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

// read counts what was handed out, and what waits in the channels' queues.
type read struct {
	buffers, bytes uint64
	queued         int
	waits          perf.Batch // of InputStats.Queue
}

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
	g.inbox.read[input].waits.Flush(&g.account.queue[input])
	n := g.inbox.read[input]
	for i := range g.inbox.arrivals {
		if a := &g.inbox.arrivals[i]; a.isData() && g.channels[a.channel].input == input {
			n.queued++
		}
	}
	return InputStats{Buffers: n.buffers, Bytes: n.bytes, Queued: n.queued, Queue: &g.account.queue[input]}
}

// took accounts for a buffer that is handed out, and returns the time. now is that, if it is
// known, else 0.
func (a *inAccount) took(input int, it item, now time.Duration) time.Duration {
	if now == 0 {
		now = a.clock.Now()
	}
	n := &a.read[input]
	n.waits.Record(&a.queue[input], int64(now-it.at))
	n.buffers++
	n.bytes += uint64(it.buf.Len())
	n.queued--
	return now
}

// publish lets others see the account as it is once the arrivals are in the channels'
// queues. The caller holds the inbox.
func (a *inAccount) publish(g *Gate, arrived []arrival) {
	if len(a.read) == 1 {
		a.read[0].queued = g.queued
	} else {
		for i := range arrived {
			if it := &arrived[i]; it.isData() {
				a.read[g.channels[it.channel].input].queued++
			}
		}
	}
	for i := range a.read {
		from, to := &a.read[i], &g.inbox.read[i]
		to.buffers, to.bytes, to.queued = from.buffers, from.bytes, from.queued
		from.waits.Move(&to.waits, &a.queue[i])
	}
}

// arrived notes when the arrivals from index before on have come. Caller holds the
// inbox.
func (g *Gate) arrived(before int, now time.Duration) {
	for i := range g.inbox.arrivals[before:] {
		g.inbox.arrivals[before+i].at = now
	}
}
