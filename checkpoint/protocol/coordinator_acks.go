package protocol

// ack takes a member's acknowledgement.
func (c *Coordinator) ack(e Event) {
	f := c.find(e.ID)
	switch {
	case !c.isMember(e.Member):
		c.note(e, NoteUnknown)
	case f == nil:
		c.gone(e)
	case !f.take(e.Member, e.Payload, c.now):
		c.note(e, NoteDuplicate)
	case f.ready():
		f.deadline = never // it only waits for its turn now, and those before it have deadlines
	}
}

// decline takes a member's refusal. After its acknowledgement, which was a promise,
// it can only be about a trigger that came twice.
func (c *Coordinator) decline(e Event) {
	f := c.find(e.ID)
	switch {
	case !c.isMember(e.Member):
		c.note(e, NoteUnknown)
	case f == nil:
		c.gone(e)
	case f.acked.has(e.Member):
		c.note(e, NoteDuplicate)
	default:
		c.fail(f, Reason{Cause: CauseDeclined, Member: e.Member, Detail: e.Detail})
	}
}

// finish notes that a member's input has ended. No barrier of a checkpoint in flight
// will reach it any more, so it is triggered directly, once.
func (c *Coordinator) finish(e Event) {
	switch {
	case !c.isMember(e.Member):
		c.note(e, NoteUnknown)
		return
	case c.over:
		c.note(e, NoteLate)
		return
	case !c.finished.add(e.Member):
		c.note(e, NoteDuplicate)
		return
	}
	for _, f := range c.flights {
		if !f.acked.has(e.Member) && f.direct.add(e.Member) {
			c.emit(Command{Type: Trigger, ID: f.id(), Kind: f.kind, Members: []Member{e.Member}, Barrier: f.barrier})
		}
	}
}

// gone names an event about a checkpoint that is not in flight.
func (c *Coordinator) gone(e Event) {
	switch {
	case e.ID > c.last || e.ID == 0:
		c.note(e, NoteUnknown)
		return
	case e.ID <= c.floor:
		c.note(e, NoteStale)
		return
	}
	switch r := c.history.find(e.ID); {
	case r == nil:
		c.note(e, NoteStale)
	case r.Complete():
		c.note(e, NoteDuplicate)
	default:
		c.note(e, NoteLate)
		c.late(e, r)
	}
}

// late clears up after an event about a checkpoint that was aborted.
func (c *Coordinator) late(e Event, r *Record) {
	switch {
	case e.Type == Ack && r.Acks < r.Members:
		c.emit(Command{Type: Discard, ID: r.ID, Kind: r.Kind, Member: e.Member, Payload: e.Payload})
	case e.Type == Published && r.doubt && c.over:
		// It is visible, and the next attempt may have been restored from it already.
	case (e.Type == Published || e.Type == PublishFailed) && r.doubt:
		c.emit(Command{Type: Discard, ID: r.ID, Kind: r.Kind, Payloads: r.payloads})
		r.doubt, r.payloads = false, nil
	}
}
