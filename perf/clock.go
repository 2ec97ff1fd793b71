package perf

import "time"

// Clock tells the time since some fixed moment, monotonically. Code that depends on
// time takes one, so that tests can put their own in its place.
type Clock interface {
	Now() time.Duration
}

type monotonic struct{ start time.Time }

// NewClock returns the system's monotonic clock, beginning at 0.
func NewClock() Clock { return monotonic{start: time.Now()} }

// Now implements Clock.
func (c monotonic) Now() time.Duration { return time.Since(c.start) }
