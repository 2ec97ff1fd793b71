package task

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// lending lets a barrier be served while the subtask is inside the user's code for a
// record that takes long. The subtask lends itself for that time: whoever brings
// something urgent serves it then, on his own goroutine.
//
// That is right only for a subtask that has nothing in a checkpoint but its input: a
// chain without state and without outputs. The record in the making counts as not yet
// processed, so it is captured, and processed again after a recovery, like all
// records behind the last checkpoint.
//
//	owned ──enter──▶ lent ──borrow──▶ borrowed
//	  ▲               │ ▲                │
//	  └──takeBack─────┘ └────────────────┘
type lending struct {
	able  bool // the chain can be lent; constant once open
	state atomic.Uint32
	rest  int   // bytes of the cursor's buffer from the record in the making on; 0: none
	err   error // of serving while lent; the borrower's, then the subtask's
}

const (
	owned uint32 = iota
	lent
	borrowed
)

// A subtask lends itself when its records take so long that it looks at the clock
// after each, that is, more than about 50 µs.
const lendPace = 1

// initLending decides whether the chain can be lent. The operators are open.
func (t *Task) initLending() {
	c := t.checkpoints
	able := c != nil && t.cfg.Gate != nil && len(t.ctx.Partitions()) == 0 && len(c.Stores.list) == 0 && len(t.time.timed) == 0
	for _, op := range t.checkpointers {
		p, ok := op.(operators.Plain)
		able = able && ok && p.Plain()
	}
	t.lending.able = able
}

// Wake wakes the subtask; any goroutine may call it, with no lock held. If the subtask
// is lent, the caller serves what is urgent.
func (t *Task) Wake() {
	t.cfg.Parker.Wake()
	l := &t.lending
	for l.state.Load() == lent && t.calls() {
		if !l.state.CompareAndSwap(lent, borrowed) {
			return // the subtask is back, or somebody else serves
		}
		if l.err == nil {
			l.err = t.guard(t.serve)
		}
		failed := l.err != nil
		l.state.Store(lent)
		if failed {
			return // the subtask will see
		}
	}
}

// calls reports whether something urgent has come that nobody has looked at. Unlike
// urgent, any goroutine may ask.
func (t *Task) calls() bool { return t.mail.full.Load() || t.cfg.Gate.Called() }

// process runs at most n records of the buffer through the chain.
func (t *Task) process(n int) (done int, err error) {
	l, c := &t.lending, &t.cursor
	if !l.able || t.pace.records > lendPace {
		return c.input.Records(&c.it, n)
	}
	l.rest = c.it.Rest()
	l.state.Store(lent)
	if t.calls() { // it has come before the loan: nobody else was there to serve it
		t.Wake()
	}
	done, err = c.input.Records(&c.it, 1)
	t.takeBack()
	if err == nil {
		err = l.err
	}
	return done, err
}

// takeBack ends the loan. A borrower is quick: he runs no user code and does no I/O.
func (t *Task) takeBack() {
	l := &t.lending
	for spins := 0; !l.state.CompareAndSwap(lent, owned); spins++ {
		if l.state.Load() == owned {
			break
		}
		if spins < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(10 * time.Microsecond)
		}
	}
	l.rest = 0
}
