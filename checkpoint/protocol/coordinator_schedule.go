package protocol

// request takes a user's wish. Savepoints begin at once; a checkpoint by hand waits for
// a place in flight, but not for interval or pause, and is shared by all who wait.
func (c *Coordinator) request(e Event) {
	if e.Token != 0 && e.Token <= c.lastToken {
		c.note(e, NoteDuplicate)
		return
	}
	c.lastToken = max(c.lastToken, e.Token)
	stop := c.of(StopSavepoint)
	switch {
	case e.Kind > StopSavepoint:
		c.refuse(e, CauseKind)
	case c.over || c.ending != 0:
		c.refuse(e, CauseEnded)
	case c.requests() >= MaxRequests:
		c.refuse(e, CauseTooMany)
	case e.Kind == Periodic:
		c.byHand(e.Token)
	case stop == nil:
		c.trigger(e.Kind, []Token{e.Token})
	case e.Kind == StopSavepoint:
		stop.tokens = append(stop.tokens, e.Token)
	default:
		c.refuse(e, CauseStopping)
	}
}

func (c *Coordinator) refuse(e Event, cause Cause) {
	if e.Token == 0 {
		c.note(e, NoteRefused)
		return
	}
	c.answer(e.Token, 0, e.Kind, Reason{Cause: cause})
}

// byHand lets a request wait for the next checkpoint, or join the final one, since
// nothing changes any more after that.
func (c *Coordinator) byHand(t Token) {
	if f := c.of(Final); f != nil {
		f.tokens = append(f.tokens, t)
		return
	}
	c.waiting = append(c.waiting, t)
}

// requests is how many are open.
func (c *Coordinator) requests() int {
	n := len(c.waiting)
	for _, f := range c.flights {
		n += len(f.tokens)
	}
	return n
}

// triggerNext triggers at most one checkpoint, so that nothing comes in bursts.
func (c *Coordinator) triggerNext() {
	switch {
	case c.now >= c.finalAt():
		c.trigger(Final, c.takeWaiting())
	case c.now >= c.periodicAt():
		if c.now >= c.due {
			c.restartInterval()
		}
		c.trigger(Periodic, c.takeWaiting())
	}
}

// finalAt is when the final checkpoint may be triggered, never if it may not. It does
// not wait for others in flight: completing, it subsumes the periodic ones, and it has
// its turn after the savepoints. A stop with a savepoint takes its place.
func (c *Coordinator) finalAt() int64 {
	if !c.finished.full() || c.ending != 0 || c.of(Final) != nil || c.of(StopSavepoint) != nil {
		return never
	}
	return c.retry
}

// periodicAt is when a periodic checkpoint may be triggered, never if none may as
// things are.
func (c *Coordinator) periodicAt() int64 {
	switch {
	case c.finished.full() || c.ending != 0 || len(c.flights) >= c.options.MaxConcurrent || c.of(StopSavepoint) != nil:
		return never
	case len(c.waiting) > 0:
		return c.now
	}
	return max(c.due, c.pause)
}

func (c *Coordinator) trigger(k Kind, tokens []Token) {
	c.last++
	f := &flight{
		kind: k, deadline: later(c.now, c.options.Timeout), tokens: tokens,
		acked: newMemberSet(c.members), direct: newMemberSet(c.members), payloads: make([]any, c.members),
		barrier: Barrier{
			ID: c.last, Mode: c.options.Mode, Stop: k == StopSavepoint, Savepoint: k.Kept(),
			Triggered: c.now, Timeout: c.options.AlignmentTimeout,
		},
	}
	c.flights = append(c.flights, f)
	members := c.sources.union(&c.finished)
	for _, m := range members {
		f.direct.add(m)
	}
	c.emit(Command{Type: Trigger, ID: f.id(), Kind: k, Members: members, Barrier: f.barrier})
}

func (c *Coordinator) takeWaiting() []Token {
	tokens := c.waiting
	c.waiting = nil
	return tokens
}

// restartInterval sets the time of the next periodic checkpoint.
func (c *Coordinator) restartInterval() {
	c.due = never
	if c.options.Interval > 0 {
		c.due = later(c.now, c.options.Interval)
	}
}

// wake asks for a Tick at the next time that something is due, if that has changed. A
// Tick that is not needed any more does no harm.
func (c *Coordinator) wake() {
	at := min(c.finalAt(), c.periodicAt())
	for _, f := range c.flights {
		at = min(at, f.deadline)
	}
	if at != never && at != c.armed { // at is in the future, so one that has passed differs
		c.armed = at
		c.emit(Command{Type: Wake, At: at})
	}
}

// later is t+d, or never where that is beyond all times.
func later(t, d int64) int64 {
	if t > never-d {
		return never
	}
	return t + d
}
