package netstack

// Holds reports whether an ordered user event that match accepts waits in a queue of
// the partition. match is called with the queue locked.
func (p *Partition) Holds(match func(e *Event) bool) bool {
	for i := range p.subs {
		s := &p.subs[i]
		s.mu.Lock()
		found := s.mu.queue.index(func(it *item) bool { return it.isOrderedUser() && match(it.event) }) >= 0
		s.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}
