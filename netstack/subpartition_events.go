package netstack

import "github.com/overtake-stream/overtake/internal/invariant"

// urge queues a priority event behind those at the head of the queue.
func (s *subpartition) urge(e *Event) {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return
	}
	s.place(s.priorities(), e)
	s.unlockUrgent()
}

// overtake queues e ahead of all that it may pass, and adds that to passed: the
// buffers with a reference of their own.
func (s *subpartition) overtake(e *Event, pass *Passing, passed []item) []item {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return passed
	}
	end := s.mu.queue.len()
	at := s.front(end, pass)
	passed = s.passedItems(at, end, pass, passed)
	s.place(at, e)
	s.unlockUrgent()
	return passed
}

// promote does the same for an ordered event that is queued.
func (s *subpartition) promote(match func(*Event) bool, make func(int, *Event) *Event, pass *Passing, passed []item) ([]item, bool) {
	s.mu.Lock()
	from := s.mu.queue.index(func(it *item) bool { return it.isOrderedUser() && match(it.event) })
	if from < 0 {
		s.mu.Unlock()
		return passed, false
	}
	e := make(s.index, s.mu.queue.at(from).event)
	at := s.front(from, pass)
	passed = s.passedItems(at, from, pass, passed)
	s.mu.queue.remove(from)
	s.mu.events--
	s.place(at, e)
	s.unlockUrgent()
	return passed, true
}

// front is the first place from which only items that may be passed follow, up to
// end. Caller holds mu.
func (s *subpartition) front(end int, pass *Passing) int {
	for end > 0 && !pass.stops(s.mu.queue.at(end-1)) {
		end--
	}
	return end
}

// passedItems adds what is told of the items in [from, end). The reference is taken
// with mu held: nobody can have given up the queue's own. Caller holds mu.
func (s *subpartition) passedItems(from, end int, pass *Passing, passed []item) []item {
	for i := from; i < end; i++ {
		it := *s.mu.queue.at(i)
		if it.isData() {
			if pass.Share == nil {
				continue
			}
			it.buf.Retain()
		}
		passed = append(passed, it)
	}
	return passed
}

// place queues a priority event at index at. Caller holds mu.
func (s *subpartition) place(at int, e *Event) {
	if invariant.Enabled {
		invariant.Check(e.Priority, "an event of kind %d without priority is to overtake data", e.Kind)
	}
	s.mu.queue.insert(at, item{event: e})
	s.mu.events++
}

// unlockUrgent tells the link of a priority event that was queued. Caller holds mu,
// which is given up.
func (s *subpartition) unlockUrgent() {
	ready := s.schedule()
	s.mu.Unlock()
	if ready {
		s.link.ready(s)
	}
	s.link.urgent(s)
}

// takePriority takes the priority event at the head, nil if there is none. Only the
// link may call it, at any time: it does not change who is to call take.
func (s *subpartition) takePriority() *Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.queue.len() == 0 || !s.mu.queue.at(0).isPriority() {
		return nil
	}
	s.mu.events--
	return s.mu.queue.pop().event
}
