package netstack

import "github.com/overtake-stream/overtake/bufferpool"

// Block keeps the items of a channel back, from the next one on: all but its
// priority events. What the sender has credit for still arrives and is kept.
func (g *Gate) Block(ch int) { g.channels[ch].blocked = true }

// Unblock lets a blocked channel go on. It wakes nobody: call Next afterwards.
func (g *Gate) Unblock(ch int) {
	g.channels[ch].blocked = false
	g.enqueue(ch)
}

// Blocked reports whether a channel's items are kept back.
func (g *Gate) Blocked(ch int) bool { return g.channels[ch].blocked }

// EachQueued lends f the first n items queued in a channel, in order: a data buffer,
// or an ordered event when e is not nil. f may Retain a buffer; whoever reads it
// later must not change it. f must not use the gate. Items that Next has not looked at
// yet are not among them; n is usually an Overtaken. A channel that has fewer items
// lends all.
func (g *Gate) EachQueued(ch, n int, f func(buf bufferpool.Buffer, partial bool, e *Event)) {
	q := &g.channels[ch].queue
	for i := range min(n, q.len()) {
		it := q.at(i)
		f(it.buf, it.part, it.event)
	}
}

// Promote takes the first ordered user event that match accepts out of a channel,
// wherever it waits, blocked or not, and returns it with the number of items ahead of
// it, as Item.Overtaken has it for a priority event. The event counts as handed out;
// the caller treats it as if it had overtaken. ok is false if no such event has
// arrived.
//
// An Overtaken of the same channel that Next has returned before is less by one if it
// is more than the result; those of events still to come are corrected.
//
// What has arrived so far is looked at. So call Next before waiting again.
func (g *Gate) Promote(ch int, match func(e *Event) bool) (e *Event, overtaken int, ok bool) {
	g.drain()
	c := &g.channels[ch]
	i := c.queue.index(func(it *item) bool { return it.isOrderedUser() && match(it.event) })
	if i < 0 {
		return nil, 0, false
	}
	e = c.queue.remove(i).event
	c.creditor.taken()
	g.recount(ch, i)
	if c.queued && c.queue.len() == 0 {
		g.ready.remove(g.ready.index(func(listed *int32) bool { return int(*listed) == ch }))
		c.queued = false
	}
	return e, i, true
}

// Hasten makes the gate treat ordered user events that match accepts, and that Next
// has not found in the inbox yet, like priority events: from their arrival on they
// wake the subtask, go before all data, and say what they overtook. nil ends that.
// Call it before Promote, and no event that is on its way slips through between the
// two: it is returned either by Promote or by Next.
//
// match is called on the links' goroutines with the inbox locked: it must be quick,
// must not use the gate, and must not depend on what the subtask changes.
func (g *Gate) Hasten(match func(e *Event) bool) {
	g.inbox.Lock()
	g.inbox.hasten = match
	for i := range g.inbox.arrivals {
		if a := &g.inbox.arrivals[i]; a.event != nil && a.overtakes(match) {
			g.urgent.Store(true)
		}
	}
	g.inbox.Unlock()
}

// recount corrects priority events that wait to be handed out, and that overtook the
// item at index i of a channel, which is gone.
func (g *Gate) recount(ch, i int) {
	for k := range g.priority.len() {
		if it := g.priority.at(k); it.Channel == ch && it.Overtaken > i {
			it.Overtaken--
		}
	}
}

// QueuedBuffers is the number of data buffers that have arrived and were not handed
// out. Any goroutine may call it. What was handed out since the gate last looked at
// its inbox, a turn at most, is still counted.
func (g *Gate) QueuedBuffers() int {
	g.inbox.Lock()
	defer g.inbox.Unlock()
	return g.inbox.queued + g.inbox.data
}
