package netstack

import "github.com/overtake-stream/overtake/bufferpool"

// Passing says what an event may pass in the queues of a partition, and who is
// told of what it passed. The zero Passing passes everything and tells nobody.
//
// An event never passes a priority event, and Stop can hold it back behind ordered
// ones. One that is held back leaves in its place in the queue; at the receiver it
// is handed out ahead of all that came before it, like every priority event, and
// what may not be passed is among the items that Item.Overtaken counts.
type Passing struct {
	// Stop reports whether an ordered event must not be passed; nil: any may be. It
	// is not asked about the exchange's own events. It is called with the queue
	// locked: it must be quick and must not use the partition.
	Stop func(e *Event) bool

	// Share takes a reference of its own to each data buffer that was passed, in
	// order: the receiver of the data still gets it. The callee may read the payload
	// on any goroutine, must not change it, and must Release the buffer, which counts
	// as the partition's until then. partial: the buffer ends inside a record. Share
	// is called on the subtask's goroutine, without any lock, after the event was
	// queued; a buffer of a broadcast is shared once for each subpartition. nil: no
	// reference is taken.
	Share func(sub int, buf bufferpool.Buffer, partial bool)

	// Event lends each ordered event that was passed, in its place between the
	// buffers; nil: not told.
	Event func(sub int, e *Event)
}

// stops reports whether it must not be passed.
func (p *Passing) stops(it *item) bool {
	switch e := it.event; {
	case e == nil:
		return false
	case e.Priority:
		return true
	default:
		return e.Kind >= FirstUserEvent && p.Stop != nil && p.Stop(e)
	}
}

// tell hands on what was passed in subpartition sub, and drops it from the list.
func (p *Passing) tell(sub int, passed []item) {
	for i, it := range passed {
		switch {
		case it.isData():
			p.Share(sub, it.buf, it.part)
		case p.Event != nil:
			p.Event(sub, it.event)
		}
		passed[i] = item{}
	}
}

// Overtake sends e, which must have Priority, to every subpartition ahead of the data
// queued, and tells pass what that was. Records written so far count as queued: open
// buffers are sealed first, so each record written before the call was either
// passed, and told, or has left the queue before e and is delivered ahead of it (see
// Item.Overtaken); and none written after it. For each subpartition all this happens
// at one moment. A record that is cut over several buffers may have left in part.
//
// Overtake must not be called from PartitionOptions.Wait or from a function of pass.
func (p *Partition) Overtake(e *Event, pass Passing) {
	for now := p.now(); len(p.open) > 0; {
		p.seal(p.open[len(p.open)-1], false, now)
	}
	for i := range p.subs {
		p.passed = p.subs[i].overtake(e, &pass, p.passed[:0])
		pass.tell(i, p.passed)
	}
}

// Promote looks in each subpartition for the first ordered user event that match
// accepts and that is still queued. There it puts the event that make returns, which
// must have Priority, in its stead, ahead of the data that it waited behind, and tells
// pass what that was. What is queued behind the ordered event, or still open, is not
// passed.
//
// The result says, by subpartition, whether there was such an event. If not, it has
// left the queue already (see Gate.Promote), or was never sent.
//
// match and make are called with the queue locked: they must be quick and must not
// use the partition. Promote must not be called from PartitionOptions.Wait or from a
// function of pass.
func (p *Partition) Promote(match func(e *Event) bool, make func(sub int, e *Event) *Event, pass Passing) (found []bool) {
	for i := range p.subs {
		var ok bool
		p.passed, ok = p.subs[i].promote(match, make, &pass, p.passed[:0])
		pass.tell(i, p.passed)
		found = append(found, ok)
	}
	return found
}

// QueuedBuffers is the number of data buffers queued for all receivers; a buffer of
// a broadcast counts once for each. Any goroutine may call it; it takes the queues'
// locks one by one, so the sum is of slightly different moments. Times MaxRecord it
// bounds the bytes.
func (p *Partition) QueuedBuffers() int {
	n := 0
	for i := range p.subs {
		s := &p.subs[i]
		s.mu.Lock()
		n += s.backlog()
		s.mu.Unlock()
	}
	return n
}
