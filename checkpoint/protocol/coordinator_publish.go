package protocol

// nextToPublish is the first checkpoint that is ready and has its turn, nil if there is
// none: nothing passes a checkpoint that it would not subsume, so completions are in
// order. It counts as being published from now on.
func (c *Coordinator) nextToPublish() *flight {
	if c.publishing != nil {
		return nil
	}
	for i, f := range c.flights {
		if f.ready() && (i == 0 || f.kind.Commits()) {
			c.publishing = f
			f.deadline = later(c.now, c.options.Timeout)
			return f
		}
		if f.kind != Periodic {
			return nil
		}
	}
	return nil
}

func (c *Coordinator) published(e Event) {
	switch f := c.find(e.ID); {
	case f == nil:
		c.gone(e)
	case f != c.publishing:
		c.note(e, NoteEarly)
	default:
		c.complete(f)
	}
}

func (c *Coordinator) publishFailed(e Event) {
	switch f := c.find(e.ID); {
	case f == nil:
		c.gone(e)
	case f != c.publishing:
		c.note(e, NoteEarly)
	default:
		c.fail(f, Reason{Cause: CausePublish, Detail: e.Detail})
	}
}

// complete ends a checkpoint that is visible.
func (c *Coordinator) complete(f *flight) {
	c.remove(f, Reason{})
	c.failures = 0
	if f.kind.Ends() {
		c.ending, c.endKind = f.id(), f.kind
	}
	c.emit(Command{Type: NotifyComplete, ID: f.id(), Kind: f.kind})
	for len(c.flights) > 0 && c.flights[0].id() < f.id() {
		// Whoever asked for the earlier one gets the later one, which covers more.
		f.tokens = append(f.tokens, c.flights[0].tokens...)
		c.flights[0].tokens = nil
		c.abort(c.flights[0], Reason{Cause: CauseSubsumed})
	}
	c.retain(f)
	for _, t := range f.tokens {
		c.answer(t, f.id(), f.kind, Reason{})
	}
}

// retain keeps the newest checkpoints and drops others. Savepoints are their users'.
func (c *Coordinator) retain(f *flight) {
	if f.kind.Kept() {
		return
	}
	c.retained = append(c.retained, f.id())
	n := max(0, len(c.retained)-c.options.Retain)
	for _, id := range c.retained[:n] {
		c.emit(Command{Type: Drop, ID: id})
	}
	c.retained = append(c.retained[:0], c.retained[n:]...)
}

func (c *Coordinator) answer(t Token, id ID, k Kind, r Reason) {
	if t != 0 {
		c.emit(Command{Type: Answer, Token: t, ID: id, Kind: k, Reason: r})
	}
}
