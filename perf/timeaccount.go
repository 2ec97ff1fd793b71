package perf

import (
	"sync/atomic"
	"time"
)

// Activity is what a subtask spends its time on.
type Activity uint8

// Busy: running operators. Idle: waiting for input. Backpressured: waiting for output
// between two records, where control is obeyed ("soft"). Blocked: waiting for output in
// the middle of a record, where nothing is ("hard").
const (
	Busy Activity = iota
	Idle
	Backpressured
	Blocked
	activities
)

// TimeAccount splits a subtask's wall time into activities. One goroutine writes
// it; any may Read. The parts always sum to the wall time exactly. The zero value has
// not started. Without Enabled it stays so.
//
// A turn is two atomic stores. When the current activity began is not among them: it is
// where the account began plus all that has been spent since.
type TimeAccount struct {
	began   atomic.Int64  // when it was started, less what it had run before
	current atomic.Uint64 // turns so far, and 1 + Activity in the lowest bits; 0 there: not running
	spent   [activities]atomic.Int64

	since time.Duration // when the current activity began; the owner's
}

// activityBits of TimeAccount.current are the activity.
const activityBits = 3

// Start begins with Busy. Time before it, or after Stop, does not count.
func (a *TimeAccount) Start(now time.Duration) { a.turn(1+uint64(Busy), now) }

// To ends the current activity and begins another.
func (a *TimeAccount) To(next Activity, now time.Duration) { a.turn(1+uint64(next), now) }

// Stop ends the account.
func (a *TimeAccount) Stop(now time.Duration) { a.turn(0, now) }

// BusyAt returns the time spent Busy up to now. Only the owner may call it.
func (a *TimeAccount) BusyAt(now time.Duration) time.Duration {
	busy := time.Duration(a.spent[Busy].Load())
	if activity(a.current.Load()) == 1+uint64(Busy) {
		busy += now - a.since
	}
	return busy
}

// activity is what is current, of TimeAccount.current.
func activity(current uint64) uint64 { return current & (1<<activityBits - 1) }

func (a *TimeAccount) turn(next uint64, now time.Duration) {
	if !Enabled {
		return
	}
	before := a.current.Load()
	if current := activity(before); current != 0 {
		spent := &a.spent[current-1]
		spent.Store(spent.Load() + int64(now-a.since))
	} else {
		a.began.Store(a.began.Load() + int64(now-a.since))
	}
	a.since = now
	a.current.Store((before>>activityBits+1)<<activityBits | next)
}

// Times is a reading of a TimeAccount.
type Times struct {
	Busy, Idle    time.Duration
	Backpressured time.Duration // Blocked included
	Blocked       time.Duration // of these
	Wall          time.Duration // from Start to Stop or now: the sum of Busy, Idle and Backpressured
	Running       bool
}

// Total is the wall time accounted for.
func (t Times) Total() time.Duration { return t.Busy + t.Idle + t.Backpressured }

// Read returns the account up to now. If the owner has turned after now already,
// it is the account up to that turn.
func (a *TimeAccount) Read(now time.Duration) Times {
	for {
		before := a.current.Load()
		began, until := a.began.Load(), int64(0)
		var spent [1 + activities]int64
		for i := range a.spent {
			spent[1+i] = a.spent[i].Load()
			until += spent[1+i]
		}
		until += began
		current := activity(before)
		if current != 0 && int64(now) > until {
			spent[current] += int64(now) - until
			until = int64(now)
		}
		// One that turns meanwhile has added to one sum at most if it is not seen here, and up
		// to the same moment.
		if before == a.current.Load() {
			return Times{
				Busy:          time.Duration(spent[1+Busy]),
				Idle:          time.Duration(spent[1+Idle]),
				Backpressured: time.Duration(spent[1+Backpressured] + spent[1+Blocked]),
				Blocked:       time.Duration(spent[1+Blocked]),
				Wall:          time.Duration(until - began),
				Running:       current != 0,
			}
		}
	}
}
