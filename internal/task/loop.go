package task

import (
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// loop runs until all input is processed.
func (t *Task) loop() error {
	for {
		if err := t.serve(); err != nil {
			return err
		}
		switch {
		case t.cancelled.Load():
			return ErrCancelled
		case t.checkpoints != nil && t.checkpoints.ending:
			return errStopped
		case !t.ctx.Available():
			if err := t.awaitOutput(); err != nil {
				return err
			}
		case t.checkpoints != nil && t.checkpoints.held:
			if err := t.awaitInput(); err != nil {
				return err
			}
		case t.cfg.Source != nil:
			if t.ended || t.stopping.Load() {
				return nil
			}
			if err := t.pull(); err != nil {
				return err
			}
		default:
			if done, err := t.consume(); done || err != nil {
				return err
			}
		}
	}
}

// pull runs a slice of the source.
func (t *Task) pull() error {
	n, status, err := t.cfg.Source.Pull(t.pace.records)
	if err == nil {
		err = t.ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := t.endSlice(n); err != nil {
		return err
	}
	switch status {
	case operators.Ended:
		t.ended = true
	case operators.Idle:
		return t.awaitInput()
	}
	return nil
}

// consume runs a slice of the gate's records. done means that all channels ended.
func (t *Task) consume() (done bool, err error) {
	if t.cursor.empty() {
		ok, err := t.fetch()
		if err != nil {
			return false, err
		}
		if !ok {
			if t.cfg.Gate.Open() == 0 {
				return true, nil
			}
			return false, t.awaitInput()
		}
	}
	n, err := t.slice()
	if err != nil {
		return false, err
	}
	return false, t.endSlice(n)
}

// endSlice looks at the clock: it adapts the pace, flushes what is due and lets
// other goroutines have the processor.
func (t *Task) endSlice(n int) error {
	t.records += uint64(n)
	if !t.pace.due(n) {
		return nil
	}
	now := t.clock.Now()
	t.pace.adapt(now)
	t.flush(now)
	t.stats.records.Store(t.records)
	// The Go scheduler preempts after 10 ms only. Without this, a busy subtask would
	// hold up the I/O loop and its neighbours for that long.
	runtime.Gosched()
	return t.look(now)
}

func (t *Task) flush(now time.Duration) {
	for _, p := range t.ctx.Partitions() {
		if at, pending := p.FlushDue(); pending && at <= now {
			p.Flush(now)
		}
	}
}

// awaitOutput waits until an output can take data or control has something.
func (t *Task) awaitOutput() error {
	now := t.clock.Now()
	if err := t.look(now); err != nil {
		return err
	}
	t.flush(now)
	t.account.To(perf.Backpressured, now)
	full := false
	for _, p := range t.ctx.Partitions() {
		if !p.Available() {
			p.Await()
			full = true
		}
	}
	if full { // it may have become available since the loop asked: nobody wakes then
		t.park()
	}
	now = t.clock.Now()
	t.account.To(perf.Busy, now)
	t.pace.resume(now)
	return nil
}

// Wait parks the subtask in the middle of a record's output, when even the
// overdraft is used up. It is PartitionOptions.Wait.
func (t *Task) Wait() {
	t.account.To(perf.Backpressured, t.clock.Now())
	t.cfg.Parker.Park(nil)
	t.account.To(perf.Busy, t.clock.Now())
}

// awaitInput waits for input or control.
func (t *Task) awaitInput() error {
	for _, op := range t.idlers {
		if err := op.Idle(); err != nil {
			return err
		}
	}
	now := t.clock.Now()
	if err := t.look(now); err != nil {
		return err
	}
	t.flush(now)
	t.stats.records.Store(t.records)
	if t.checkpoints != nil && t.checkpoints.Stores.maintain() {
		return nil // there is more of that to do
	}
	t.account.To(perf.Idle, now)
	t.park()
	now = t.clock.Now()
	t.account.To(perf.Busy, now)
	t.pace.resume(now)
	return nil
}

// park waits for a wake-up, or until the next flush is due.
func (t *Task) park() {
	due, pending := time.Duration(0), false
	for _, p := range t.ctx.Partitions() {
		if at, open := p.FlushDue(); open && (!pending || at < due) {
			due, pending = at, true
		}
	}
	now := t.clock.Now()
	if wait, look := t.lookDue(); look && (!pending || now+wait < due) {
		due, pending = now+wait, true
	}
	if !pending {
		t.cfg.Parker.Park(nil)
		return
	}
	t.timer.Reset(max(0, due-now))
	t.cfg.Parker.Park(t.timer.C)
	t.timer.Stop()
}
