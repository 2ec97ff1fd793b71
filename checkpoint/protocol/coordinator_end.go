package protocol

import "slices"

// remove takes a checkpoint out of flight and puts it into the history.
func (c *Coordinator) remove(f *flight, reason Reason) {
	i := slices.Index(c.flights, f)
	c.flights = slices.Delete(c.flights, i, i+1)
	r := f.record(c.now, reason)
	if f == c.publishing {
		c.publishing = nil
		if reason.Cause != CauseNone && reason.Cause != CausePublish {
			r.doubt, r.payloads = true, f.payloads
		}
	}
	c.history.add(r)
	c.pause = later(c.now, c.options.MinPause)
}

// abort ends a checkpoint that will not be complete.
func (c *Coordinator) abort(f *flight, reason Reason) {
	c.remove(f, reason)
	c.emit(Command{Type: NotifyAborted, ID: f.id(), Kind: f.kind, Reason: reason})
	if !c.history.newest().doubt {
		c.emit(Command{Type: Discard, ID: f.id(), Kind: f.kind, Payloads: f.payloads})
	}
	for _, t := range f.tokens {
		c.answer(t, f.id(), f.kind, reason)
	}
}

// fail aborts a checkpoint by its own fault, which the job may not survive.
func (c *Coordinator) fail(f *flight, reason Reason) {
	c.abort(f, reason)
	if f.kind == Final {
		c.retry = later(c.now, max(c.options.MinPause, FinalPause))
	}
	if f.kind.Kept() || !reason.Cause.failure() {
		return
	}
	c.failures++
	if c.failures > c.options.TolerableFailures {
		c.abortAll(Reason{Cause: CauseJobFailed, Detail: reason.words()})
		c.emit(Command{Type: FailJob, ID: f.id(), Kind: f.kind, Reason: reason})
	}
}

// expire fails what is past its deadline, in the order of IDs.
func (c *Coordinator) expire() {
	for i := 0; i < len(c.flights); {
		f := c.flights[i]
		if f.deadline > c.now {
			i++
			continue
		}
		c.fail(f, f.expired())
	}
}

// end takes the end of the attempt.
func (c *Coordinator) end(e Event, cause Cause) {
	if c.over {
		c.note(e, NoteLate)
		return
	}
	c.abortAll(Reason{Cause: cause, Detail: e.Detail})
}

func (c *Coordinator) abortAll(reason Reason) {
	for len(c.flights) > 0 {
		c.abort(c.flights[0], reason)
	}
	c.close(reason.Cause)
}

// close ends the coordinator. Who still waits to begin is refused.
func (c *Coordinator) close(cause Cause) {
	c.over = true
	for _, t := range c.waiting {
		c.answer(t, 0, Periodic, Reason{Cause: cause})
	}
	c.waiting = nil
}
