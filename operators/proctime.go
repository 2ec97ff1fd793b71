package operators

import "time"

// Clocked is an Operator that acts when processing time goes on.
type Clocked interface {
	// ProcessingDue is the time of its first timer, in Unix milliseconds; ok is false if it
	// has none.
	ProcessingDue() (at int64, ok bool)
	// OnProcessingTime fires the timers up to and including now, in Unix milliseconds; with
	// LastWatermark all that there are, since the input has ended. It may collect. It
	// returns done false if it should be called again with the same time, because its
	// outputs are full or the subtask has something urgent to do.
	OnProcessingTime(now int64) (done bool, err error)
}

// processingTime is the clock of a chain.
type processingTime struct {
	unix   func() int64 // nanoseconds; nil: the computer's
	jumps  bool         // it need not go on like the computer's
	latest int64        // Unix milliseconds, as told last
}

// SetClock says what time it is, in Unix nanoseconds, instead of the computer's clock. If it
// jumps, it may go on at another speed than that one, or not at all.
func (c *Context) SetClock(unix func() int64, jumps bool) {
	c.processing.unix, c.processing.jumps = unix, jumps
}

// ClockJumps reports whether how long it is to some processing time does not say when that
// will be.
func (c *Context) ClockJumps() bool { return c.processing.jumps }

// UnixNano is the time of the clock in Unix nanoseconds.
func (c *Context) UnixNano() int64 {
	if c.processing.unix != nil {
		return c.processing.unix()
	}
	return time.Now().UnixNano()
}

// ProcessingTime is the time of the clock in Unix milliseconds. In one subtask it never goes
// back, whatever the clock does.
func (c *Context) ProcessingTime() int64 {
	p := &c.processing
	p.latest = max(p.latest, c.UnixNano()/int64(time.Millisecond))
	return p.latest
}
