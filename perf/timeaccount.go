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
type TimeAccount struct {
	sequence atomic.Uint64 // odd while the owner writes
	began    atomic.Int64  // when it was started, less what it had run before
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

// BusyAt returns the time spent Busy up to now. Only the owner may call it.
func (a *TimeAccount) BusyAt(now time.Duration) time.Duration {
	busy := time.Duration(a.spent[Busy].Load())
	if a.current.Load() == 1+uint32(Busy) {
		busy += now - time.Duration(a.since.Load())
	}
	return busy
}

func (a *TimeAccount) turn(next uint32, now time.Duration) {
	if !Enabled {
		return
	}
	a.sequence.Add(1)
	if current := a.current.Load(); current != 0 {
		a.spent[current-1].Add(int64(now) - a.since.Load())
	} else {
		a.began.Store(a.began.Load() - a.since.Load() + int64(now))
	}
	a.since.Store(int64(now))
	a.current.Store(next)
	a.sequence.Add(1)
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
		before := a.sequence.Load()
		var spent [1 + activities]int64
		for i := range a.spent {
			spent[1+i] = a.spent[i].Load()
		}
		current, until := a.current.Load(), a.since.Load()
		if current != 0 {
			spent[current] += max(0, int64(now)-until)
			until = max(until, int64(now))
		}
		wall := until - a.began.Load()
		if before%2 == 0 && before == a.sequence.Load() {
			return Times{
				Busy:          time.Duration(spent[1+Busy]),
				Idle:          time.Duration(spent[1+Idle]),
				Backpressured: time.Duration(spent[1+Backpressured] + spent[1+Blocked]),
				Blocked:       time.Duration(spent[1+Blocked]),
				Wall:          time.Duration(wall),
				Running:       current != 0,
			}
		}
	}
}
