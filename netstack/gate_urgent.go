package netstack

// Called reports whether something urgent has arrived that the subtask has not looked
// at yet. Any goroutine may call it.
func (g *Gate) Called() bool { return g.urgent.Load() }

// Urgent reports whether NextPriority has something to hand out.
func (g *Gate) Urgent() bool { return g.urgent.Load() || g.priority.len() > 0 }

// NextPriority is Next for the events alone that go before all data (priority events,
// and what Hasten accepts): it takes nothing out of a channel's queue, and so may be
// called while the subtask cannot take any of that, because it waits for its output
// for instance. The Waker fires when such an event arrives after it returned false.
func (g *Gate) NextPriority() (Item, bool) {
	if g.urgent.Load() {
		g.drain()
	}
	if g.priority.len() == 0 {
		return Item{}, false
	}
	return g.pop(0)
}

// EachEvent lends f the ordered user events that have arrived and wait behind data or
// in a blocked channel. f must not use the gate. As after Promote, call Next before
// waiting again.
func (g *Gate) EachEvent(f func(ch int, e *Event)) {
	g.drain()
	for ch := range g.channels {
		q := &g.channels[ch].queue
		for i := range q.len() {
			if it := q.at(i); it.isOrderedUser() {
				f(ch, it.event)
			}
		}
	}
}
