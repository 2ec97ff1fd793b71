package netstack

// NextPriority is Next for priority events alone: it hands out no data and no ordered
// event, and so may be called while the subtask cannot take any.
func (g *Gate) NextPriority() (Item, bool) {
	if g.urgent.Load() {
		g.drain()
	}
	if g.priority.len() == 0 {
		return Item{}, false
	}
	return g.pop()
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
