package perf

import "sync/atomic"

// Counter counts events. It fills two cache lines (processors fetch them in pairs),
// so that counters side by side, with different owners, do not slow each other. The
// zero value is 0; any goroutine may Add and Load.
type Counter struct {
	n atomic.Uint64
	_ [120]byte
}

// Add counts n events.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Load returns the events counted so far.
func (c *Counter) Load() uint64 { return c.n.Load() }
