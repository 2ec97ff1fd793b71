package task

import (
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// lookEvery is how often a subtask looks whether barriers wait in queues. Nothing
// wakes it when one leaves.
const lookEvery = time.Millisecond

// look does what time has made due: it unshares, looks for barriers that wait in queues, and
// lets those overtake that have waited for too long.
func (t *Task) look(now time.Duration) error {
	t.unshare(now)
	c := t.checkpoints
	if c == nil || !c.Auto {
		return nil
	}
	if c.missed = now-c.looked < lookEvery; c.missed {
		return nil
	}
	c.looked = now
	t.announce()
	if err := t.serve(); err != nil { // what has overtaken comes before what is expired
		return err
	}
	unix := c.Now()
	err := t.perform(c.machine.Expire(nil, unix), -1, 0)
	if err == nil {
		err = t.serve()
	}
	if err != nil {
		return err
	}
	for i := 0; i < len(c.rounds); {
		if r := c.rounds[i]; r.leaving && t.left(r, unix) && !c.machine.Knows(r.barrier.ID) {
			t.upload(r) // removes it
			continue
		}
		i++
	}
	return nil
}

// announce tells the machine of barriers that wait behind data.
func (t *Task) announce() {
	c := t.checkpoints
	if t.cfg.Gate == nil {
		return
	}
	t.cfg.Gate.EachEvent(func(ch int, e *netstack.Event) {
		if b, ok, err := parseBarrier(e); ok && err == nil {
			c.note(b)
			c.machine.Announce(nil, ch, b)
		}
	})
}

// left reports whether a barrier waits in no output queue any more; after its timeout
// it makes it so.
func (t *Task) left(r *round, unix int64) bool {
	if r.barrier.Triggered+r.barrier.Timeout <= unix {
		t.leave(r.barrier.ID + 1)
	}
	for _, p := range t.ctx.Partitions() {
		if p.Holds(isBarrier(r.barrier.ID, 0)) {
			return false
		}
	}
	r.leaving = false
	return true
}

// lookDue is when look has something to do. After a look that was left out, as the one
// before was not long ago, barriers may have come that nobody knows of.
func (t *Task) lookDue() (at time.Duration, ok bool) {
	c := t.checkpoints
	if c == nil || !c.Auto {
		return 0, false
	}
	soon := c.looked + lookEvery
	if c.missed {
		return soon, true
	}
	for _, r := range c.rounds {
		if r.leaving {
			return soon, true
		}
	}
	deadline, ok := c.machine.Deadline()
	return max(soon, t.clock.Now()+time.Duration(deadline-c.Now())), ok
}
