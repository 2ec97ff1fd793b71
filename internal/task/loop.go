package task

import (
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// Next is what a subtask needs before its next step.
type Next uint8

// What Step returns.
const (
	Ready       Next = iota // nothing
	AwaitInput              // input, or a command
	AwaitOutput             // room in its outputs, or a command
	Over                    // it has ended
)

// loop runs until everything is done.
func (t *Task) loop() error {
	for {
		next, err := t.step()
		switch {
		case err != nil:
			return err
		case next == Over:
			return nil
		case next == AwaitInput:
			err = t.awaitInput()
		case next == AwaitOutput:
			err = t.awaitOutput()
		}
		if err != nil {
			return err
		}
	}
}

// step serves control, then runs a slice of what there is to do.
func (t *Task) step() (Next, error) {
	if err := t.serve(); err != nil {
		return Ready, err
	}
	c, woken := t.checkpoints, t.woken
	t.woken = 0
	switch {
	case t.cancelled.Load():
		return Ready, ErrCancelled
	case c != nil && c.ending && !c.finished:
		return Ready, errStopped
	case c != nil && c.ending:
		return Over, nil
	case c != nil && c.finished:
		return AwaitInput, nil
	case !t.ctx.Available():
		return AwaitOutput, nil
	case t.time.busy:
		return t.tell()
	case t.processing.busy:
		return t.fireTimers()
	case c != nil && c.held:
		return AwaitInput, nil
	case t.cfg.Source == nil:
		return t.consume(woken)
	case t.ended || t.stopping.Load():
		return t.finish()
	default:
		return t.pull()
	}
}

// pull runs a slice of the source.
func (t *Task) pull() (Next, error) {
	n, status, err := t.cfg.Source.Pull(t.pace.records)
	if err == nil {
		err = t.ctx.Err()
	}
	if err != nil {
		return Ready, err
	}
	t.ended = status == operators.Ended
	if status == operators.Idle {
		return AwaitInput, t.endSlice(n)
	}
	return Ready, t.endSlice(n)
}

// consume runs a slice of the gate's records. now is the time if it is known, else 0.
func (t *Task) consume(now time.Duration) (Next, error) {
	if t.cursor.empty() {
		ok, err := t.fetch(now)
		switch {
		case err != nil:
			return Ready, err
		case !ok && t.cfg.Gate.Open() == 0:
			return t.finish()
		case !ok:
			return AwaitInput, nil
		case t.cursor.empty(): // it was an event
			return Ready, t.endSlice(0)
		}
	}
	n, err := t.slice()
	if err != nil {
		return Ready, err
	}
	return Ready, t.endSlice(n)
}

// endSlice looks at the clock: it adapts the pace, flushes what is due and lets
// other goroutines have the processor.
func (t *Task) endSlice(n int) error {
	t.records += uint64(n)
	due := t.pace.due(n)
	if !due && !t.crossed() {
		return nil
	}
	now := t.clock.Now()
	if due {
		t.pace.adapt(now)
	}
	t.ownMark(now, false)
	t.dueTimers()
	t.ownMarker(now)
	t.flush(now)
	t.publish(now)
	t.yield(now)
	return t.look(now)
}

// yieldEvery is how long a busy subtask keeps others of its process waiting for a processor. One that
// gives way every 50 us has a third less throughput where producer and consumer share a processor: the
// one that it has just woken takes it, and another processor that is idle looks for work too late.
const yieldEvery = 200 * time.Microsecond

// yield lets others have the processor now and then. The Go scheduler preempts after 10 ms only:
// for so long, a busy subtask would hold up the I/O loop and its neighbours.
func (t *Task) yield(now time.Duration) {
	if now-t.yielded < yieldEvery {
		return
	}
	t.yielded = now
	runtime.Gosched()
	if c := t.checkpoints; c != nil && c.underway > 0 { // other processes may need it for that
		yieldProcessor()
	}
}

// flush sends what is due. A buffer that would wait behind others stays open: it is looked
// at again a while later, however short the flush interval is.
func (t *Task) flush(now time.Duration) {
	t.flushed, t.behind = now, t.behind[:0]
	for _, p := range t.ctx.Partitions() {
		if t.cfg.InFlightTime > 0 {
			p.Debloat(now, t.cfg.InFlightTime)
		}
		at, pending := p.FlushDue()
		if pending = pending && at <= now; pending {
			p.Flush(now)
			_, pending = p.FlushDue()
		}
		t.behind = append(t.behind, pending)
	}
}

// awaitOutput waits until an output can take data or control has something.
func (t *Task) awaitOutput() error {
	wait, err := t.full()
	if err != nil || !wait {
		return err
	}
	t.park()
	t.busy()
	return nil
}

// full does what is due before waiting for output, and asks to be woken. Without wait,
// there is output again.
func (t *Task) full() (wait bool, err error) {
	now := t.clock.Now()
	if err := t.look(now); err != nil {
		return false, err
	}
	t.flush(now)
	t.holdMarkers()
	t.account.To(perf.Backpressured, now)
	for _, p := range t.ctx.Partitions() {
		if !p.Available() {
			p.AwaitAt(now)
			wait = true
		}
	}
	t.time.halted = now
	if !wait { // it has become available since the loop asked: nobody wakes
		t.busy()
	}
	return wait, nil
}

// busy ends a wait.
func (t *Task) busy() {
	now := t.clock.Now()
	t.account.To(perf.Busy, now)
	t.time.resume(now)
	t.pace.resume(now)
	if perf.Enabled {
		t.woken = now
		for _, p := range t.ctx.Partitions() {
			p.Awaited(now)
		}
	}
}

// Wait parks the subtask in the middle of a record's output, when even the
// overdraft is used up. It is PartitionOptions.Wait.
func (t *Task) Wait() { t.WaitBy(func() { t.cfg.Parker.Park(nil) }) }

// WaitBy is Wait for a simulation, which has another way to wait for the Parker to be
// notified. Of what the subtask waits for, captures of its own give back what they hold.
func (t *Task) WaitBy(park func()) {
	t.holdMarkers()
	t.time.halted = t.clock.Now()
	t.account.To(perf.Blocked, t.time.halted)
	t.unshare(never)
	park()
	now := t.clock.Now()
	t.account.To(perf.Busy, now)
	t.time.resume(now)
}

// awaitInput waits for input or control.
func (t *Task) awaitInput() error {
	wait, err := t.idle()
	if err != nil || !wait {
		return err
	}
	t.park()
	t.busy()
	return nil
}

// idle does what is due before waiting for input. Without wait, there is more to do.
func (t *Task) idle() (wait bool, err error) {
	for _, op := range t.idlers {
		if err := op.Idle(); err != nil {
			return false, err
		}
	}
	now := t.clock.Now()
	if err := t.look(now); err != nil {
		return false, err
	}
	t.ownMark(now, true)
	if t.dueTimers(); t.time.busy || t.processing.busy {
		return false, nil
	}
	t.ownMarker(now)
	t.flush(now)
	t.processed(now)
	t.publish(now)
	if t.checkpoints != nil && t.checkpoints.Stores.maintain() {
		return false, nil
	}
	t.account.To(perf.Idle, now)
	return true, nil
}

// park waits for a wake-up, or until something is due.
func (t *Task) park() {
	due, pending := t.Due()
	if !pending {
		t.cfg.Parker.Park(nil)
		return
	}
	t.timer.Reset(max(0, due-t.clock.Now()))
	t.cfg.Parker.Park(t.timer.C)
	t.timer.Stop()
}

// Due is when a subtask that waits has something to do though nobody wakes it: flush
// its outputs, or look for barriers that have waited for too long.
func (t *Task) Due() (at time.Duration, pending bool) {
	for i, p := range t.ctx.Partitions() {
		due, open := p.FlushDue()
		if i < len(t.behind) && t.behind[i] {
			due = max(due, t.flushed+lookEvery)
		}
		if open && (!pending || due < at) {
			at, pending = due, true
		}
	}
	if due, open := t.markDue(); open && (!pending || due < at) {
		at, pending = due, true
	}
	if due, open := t.timerDue(); open && (!pending || due < at) {
		at, pending = due, true
	}
	if due, open := t.markerDue(); open && (!pending || due < at) {
		at, pending = due, true
	}
	if due, open := t.unshareDue(); open && (!pending || due < at) {
		at, pending = due, true
	}
	if due, look := t.lookDue(); look && (!pending || due < at) {
		at, pending = due, true
	}
	return at, pending
}
