package task

import (
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// processingTime fires the chain's timers of processing time. It belongs to the subtask's
// goroutine.
type processingTime struct {
	ops  []operators.Clocked // in the order of the chain
	now  int64               // operators are being told, Unix milliseconds
	next int                 // of ops: who has not been told
	busy bool                // some have not
}

const (
	// jumpEvery is how often a subtask that waits looks at a clock that may jump.
	jumpEvery = time.Millisecond
	// farTimer is how far ahead a subtask looks for the time of a timer.
	farTimer = time.Hour
)

func (t *Task) initTimers() {
	for _, op := range t.cfg.Ops {
		if c, ok := op.(operators.Clocked); ok {
			t.processing.ops = append(t.processing.ops, c)
		}
	}
}

// firstTimer is the time of the first timer, in Unix milliseconds.
func (p *processingTime) firstTimer() (at int64, ok bool) {
	for _, op := range p.ops {
		if due, set := op.ProcessingDue(); set && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// dueTimers looks whether timers are due. Then the next steps fire them.
func (t *Task) dueTimers() {
	p := &t.processing
	if p.busy {
		return
	}
	if at, ok := p.firstTimer(); ok {
		if now := t.ctx.ProcessingTime(); at <= now {
			p.now, p.next, p.busy = now, 0, true
		}
	}
}

// fireTimers goes on firing timers. Between two it may stop, to be called again: then a
// barrier need not wait for all of them.
func (t *Task) fireTimers() (Next, error) {
	p := &t.processing
	for p.next < len(p.ops) {
		done, err := p.ops[p.next].OnProcessingTime(p.now)
		if err == nil {
			err = t.ctx.Err()
		}
		if err != nil || !done {
			return Ready, err
		}
		p.next++
	}
	p.busy = false
	if t.ctx.Fired() {
		t.sendOpen()
	}
	return Ready, nil
}

// timerDue is when fireTimers has something to do.
func (t *Task) timerDue() (at time.Duration, ok bool) {
	if len(t.processing.ops) == 0 || !t.ctx.Available() {
		return 0, false
	}
	first, ok := t.processing.firstTimer()
	if !ok {
		return 0, false
	}
	wait := farTimer
	if unix := t.ctx.UnixNano(); first < (unix+int64(farTimer))/int64(time.Millisecond) {
		wait = max(0, time.Duration(first*int64(time.Millisecond)-unix))
	}
	if t.ctx.ClockJumps() {
		wait = min(wait, jumpEvery)
	}
	return t.clock.Now() + wait, true
}

// lastTimers fires all timers that are left, since the input has ended. It reports whether
// that has been done.
func (t *Task) lastTimers() bool {
	p := &t.processing
	if _, ok := p.firstTimer(); ok {
		p.now, p.next, p.busy = operators.LastWatermark, 0, true
	}
	return !p.busy
}
