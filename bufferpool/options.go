package bufferpool

import (
	"errors"
	"fmt"
)

// Headroom is the space before every payload, in bytes, for a frame's header: so
// header and payload are contiguous and leave in one write.
const Headroom = 32

// Limits of Options.
const (
	MinSegment = 256
	MaxSegment = 1 << 20
	maxArena   = 1 << 40
	maxBuffers = 1 << 24 // their descriptors take 64 bytes each
)

// Options configures an Arena. Zero fields mean the defaults.
type Options struct {
	SegmentSize int   // bytes, headroom included; a power of two from 256 B to 1 MiB; default 32 KiB
	Budget      int64 // bytes of all segments, never exceeded; default 64 MiB
	Prefault    bool  // touch all memory at the start instead of on first use
}

func (o Options) withDefaults() Options {
	if o.SegmentSize == 0 {
		o.SegmentSize = 32 << 10
	}
	if o.Budget == 0 {
		o.Budget = 64 << 20
	}
	return o
}

// Validate reports all problems at once.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	if n := o.SegmentSize; n < MinSegment || n > MaxSegment || n&(n-1) != 0 {
		errs = append(errs, fmt.Errorf("bufferpool: buffer size %d, want a power of two from %d to %d bytes", n, MinSegment, MaxSegment))
	}
	if n := int64(o.SegmentSize); n > 0 && o.Budget/n > maxBuffers {
		errs = append(errs, fmt.Errorf("bufferpool: budget %d bytes is more than %d buffers of %d bytes: make them larger", o.Budget, maxBuffers, n))
	}
	if o.Budget < int64(o.SegmentSize) || o.Budget > maxArena {
		errs = append(errs, fmt.Errorf("bufferpool: budget %d bytes, want at least one buffer (%d) and at most %d", o.Budget, o.SegmentSize, int64(maxArena)))
	}
	return errors.Join(errs...)
}

// PoolOptions configures a Pool.
type PoolOptions struct {
	Name      string // in the ledger and in errors
	Min       int    // segments reserved for this pool alone
	Max       int    // segments it may hold when others leave them; less than Min means Min
	Overdraft int    // segments beyond its limit, for GetOverdraft
}

// Validate reports all problems at once.
func (o PoolOptions) Validate() error {
	var errs []error
	check := func(field string, n int) {
		if n < 0 {
			errs = append(errs, fmt.Errorf("bufferpool: pool %q: %s is %d, want at least 0", o.Name, field, n))
		}
	}
	check("Min", o.Min)
	check("Max", o.Max)
	check("Overdraft", o.Overdraft)
	if o.Min > maxBuffers {
		errs = append(errs, fmt.Errorf("bufferpool: pool %q: Min is %d, want at most %d", o.Name, o.Min, maxBuffers))
	}
	return errors.Join(errs...)
}

// Waker is told that a Get may succeed. Wake is called with no lock held, by any
// goroutine, perhaps too often; it must not block.
type Waker interface{ Wake() }
