package task

import "errors"

// errStopped ends a subtask whose job has stopped with a savepoint: nothing of it is
// finished.
var errStopped = errors.New("task: stopped with a savepoint")

// finish lets the operators say what they have to say at the end of the input, unless
// they had done so before the checkpoint that was restored. With checkpoints, the
// subtask then waits for the job's last one, so that what sinks have prepared is
// committed, and takes part in those before it.
func (t *Task) finish() (Next, error) {
	if !t.lastTimers() || !t.lastMark() {
		return Ready, nil // timers fire first
	}
	if !t.restored.Finished {
		for _, op := range t.cfg.Ops {
			if err := op.Finish(); err != nil {
				return Ready, err
			}
			if t.ctx.Err() != nil {
				return Ready, t.ctx.Err()
			}
		}
	}
	c := t.checkpoints
	if c == nil {
		return Over, nil
	}
	for _, p := range t.ctx.Partitions() {
		p.Finish()
	}
	c.finished = true
	c.Tell(Notice{Kind: Finished})
	return Ready, nil
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
