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
// it; any may Read. The parts always sum to the wall time exactly. The zero value has
// not started.
type TimeAccount struct {
	sequence atomic.Uint64 // odd while the owner writes
	since    atomic.Int64  // when the current activity began
	current  atomic.Uint32 // 1 + Activity; 0: not running
	spent    [activities]atomic.Int64
}

// Start begins with Busy. Time before it, or after Stop, does not count.
func (a *TimeAccount) Start(now time.Duration) { a.turn(1+uint32(Busy), now) }

// To ends the current activity and begins another.
func (a *TimeAccount) To(next Activity, now time.Duration) { a.turn(1+uint32(next), now) }

// Stop ends the account.
func (a *TimeAccount) Stop(now time.Duration) { a.turn(0, now) }

func (a *TimeAccount) turn(next uint32, now time.Duration) {
	a.sequence.Add(1)
	if current := a.current.Load(); current != 0 {
		a.spent[current-1].Add(int64(now) - a.since.Load())
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

// Read returns the account up to now. If the owner has turned after now already,
// it is the account up to that turn.
func (a *TimeAccount) Read(now time.Duration) Times {
	for {
		before := a.sequence.Load()
		var spent [1 + activities]int64
		for i := range a.spent {
			spent[1+i] = a.spent[i].Load()
		}
		spent[a.current.Load()] += max(0, int64(now)-a.since.Load())
		if before%2 == 0 && before == a.sequence.Load() {
			return Times{
				Busy:          time.Duration(spent[1+Busy]),
				Idle:          time.Duration(spent[1+Idle]),
				Backpressured: time.Duration(spent[1+Backpressured]),
			}
		}
	}
}
