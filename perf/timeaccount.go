package perf

import (
	"sync/atomic"
	"time"
)

// Activity is what a subtask spends its time on.
type Activity uint8

// Busy: running operators. Idle: waiting for input. Backpressured: waiting for
// output.
const (
	Busy Activity = iota
	Idle
	Backpressured
	activities
)

// TimeAccount splits a subtask's wall time into activities. One goroutine writes
// it; any may Read. The parts always sum to the wall time exactly.
type TimeAccount struct {
	sequence atomic.Uint64 // odd while the owner writes
	since    atomic.Int64  // when the current activity began
	current  atomic.Uint32 // Activity, or stopped
	spent    [activities]atomic.Int64
}

const stopped = uint32(activities)

// Start begins with Busy.
func (a *TimeAccount) Start(now time.Duration) { a.turn(uint32(Busy), now, false) }

// To ends the current activity and begins another.
func (a *TimeAccount) To(next Activity, now time.Duration) { a.turn(uint32(next), now, true) }

// Stop ends the account.
func (a *TimeAccount) Stop(now time.Duration) { a.turn(stopped, now, true) }

func (a *TimeAccount) turn(next uint32, now time.Duration, count bool) {
	a.sequence.Add(1)
	if current := a.current.Load(); count && current != stopped {
		a.spent[current].Add(int64(now) - a.since.Load())
	}
	a.since.Store(int64(now))
	a.current.Store(next)
	a.sequence.Add(1)
}

// Times is a reading of a TimeAccount.
type Times struct {
	Busy, Idle, Backpressured time.Duration
}

// Total is the wall time accounted for.
func (t Times) Total() time.Duration { return t.Busy + t.Idle + t.Backpressured }

// Read returns the account up to now.
func (a *TimeAccount) Read(now time.Duration) Times {
	for {
		before := a.sequence.Load()
		var spent [activities + 1]int64
		for i := range a.spent {
			spent[i] = a.spent[i].Load()
		}
		if current := a.current.Load(); current != stopped {
			spent[current] += max(0, int64(now)-a.since.Load())
		}
		if before%2 == 0 && before == a.sequence.Load() {
			return Times{Busy: time.Duration(spent[Busy]), Idle: time.Duration(spent[Idle]), Backpressured: time.Duration(spent[Backpressured])}
		}
	}
}
