package task

import (
	"errors"

	"github.com/overtake-stream/overtake/perf"
)

// errStopped ends a subtask whose job has stopped with a savepoint: nothing of it is
// finished.
var errStopped = errors.New("task: stopped with a savepoint")

// linger waits, when everything is sent, for the job's last checkpoint: what sinks
// have prepared is committed then. Meanwhile it takes part in checkpoints.
func (t *Task) linger() error {
	for _, p := range t.ctx.Partitions() {
		p.Finish()
	}
	c := t.checkpoints
	c.finished = true
	c.Tell(Notice{Kind: Finished})
	for {
		if err := t.serve(); err != nil {
			return err
		}
		now := t.clock.Now()
		if err := t.look(now); err != nil {
			return err
		}
		switch {
		case c.ending:
			return nil
		case t.cancelled.Load():
			return ErrCancelled
		}
		t.account.To(perf.Idle, now)
		t.park()
		t.account.To(perf.Busy, t.clock.Now())
	}
}

// settle ends what checkpoints have begun: snapshot writers are waited for, and all
// state is freed.
func (t *Task) settle() error {
	c := t.checkpoints
	if c == nil {
		return nil
	}
	for len(c.rounds) > 0 {
		r := c.rounds[0]
		c.remove(r)
		r.release()
	}
	c.writers.Wait()
	return c.Stores.Close()
}
