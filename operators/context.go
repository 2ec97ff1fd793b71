package operators

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/statecow"
)

// Context is what the operators of one chain share. It belongs to the subtask's
// goroutine. Its exported fields are for reading in user code.
type Context struct {
	// constant
	Job         string
	Subtask     int // 0 to Parallelism-1
	Parallelism int
	MaxParallel int    // key groups
	StateMemory int64  // bytes of keyed state that one operator may have here; 0: 1 GiB
	Epoch       uint64 // of the attempt: grows with each restart of the job
	Log         *slog.Logger
	Cancel      context.Context // ends when the job is cancelled or has failed

	// the current record
	Time    int64 // event time, Unix milliseconds, if HasTime
	HasTime bool
	Hash    uint32 // key hash of the record, on keyed edges

	Watermark int64 // of the subtask's input, Unix milliseconds; NoWatermark at first

	split  int                    // of the source that the current record comes from
	maker  *watermark.Maker       // of the chain's watermarks, if its source is in it; or nil
	active func(*watermark.Maker) // a Watermarker that may have been idle is not; may be nil

	processing processingTime
	partitions []*netstack.Partition
	fired      bool        // a timer has, since Fired was asked
	urgent     func() bool // the subtask has something to do that must not wait
	stores     Stores
	uid        string // of the operator that is being opened
	err        error
	changed    bool // since settle was last true, something that it depends on may have
}

// Now tells the time to states that expire; it implements statecow.Clock.
func (c *Context) Now(clock statecow.ExpiryClock) int64 {
	if clock == statecow.EventTime {
		return eventNanos(c.Watermark)
	}
	return c.UnixNano()
}

// eventNanos is a time in milliseconds in nanoseconds, as far as there are any.
func eventNanos(millis int64) int64 {
	const factor = int64(time.Millisecond)
	return max(math.MinInt64/factor, min(math.MaxInt64/factor, millis)) * factor
}

// SetUrgent says how the subtask tells that it has something to do that must not wait.
func (c *Context) SetUrgent(urgent func() bool) { c.urgent = urgent }

// SetWatermarks gives the chain what makes its watermarks, and what to call when that may
// have been idle and is not. Of a chain with a source, it learns of the source's splits.
func (c *Context) SetWatermarks(m *watermark.Maker, source bool, active func(*watermark.Maker)) {
	if c.active = active; source {
		c.maker = m
	}
}

// Fired reports whether a timer has fired since it was last asked.
func (c *Context) Fired() bool {
	fired := c.fired
	c.fired = false
	return fired
}

// pause reports whether a run of timers should be interrupted.
func (c *Context) pause() bool { return !c.Available() || (c.urgent != nil && c.urgent()) }

// release closes a store that is not the engine's.
func (c *Context) release(k *KeyedStore) error {
	if c.stores != nil {
		return nil
	}
	return k.Store.Close()
}

// Fail ends the subtask with err after the current record. The first error wins.
func (c *Context) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.changed = true
}

// Err is the error that the chain has failed with, if any.
func (c *Context) Err() error { return c.err }

// Add makes p one of the chain's outputs.
func (c *Context) Add(p *netstack.Partition) {
	c.partitions = append(c.partitions, p)
	p.Watch(&c.changed)
}

// settle reports, after something has changed, whether the chain can take one more record: it
// has not failed, and every output is available. While changed is false, it can.
func (c *Context) settle() bool {
	c.changed = c.err != nil || !c.Available()
	return !c.changed
}

// Available reports whether every output can take one more record's results.
func (c *Context) Available() bool {
	for _, p := range c.partitions {
		if !p.Available() {
			return false
		}
	}
	return true
}

// Partitions lends the chain's outputs.
func (c *Context) Partitions() []*netstack.Partition { return c.partitions }
