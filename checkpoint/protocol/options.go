package protocol

import (
	"errors"
	"fmt"
	"math"
)

// Limits and defaults of Options.
const (
	DefaultTimeout          = int64(10 * 60 * 1e9)
	DefaultMaxConcurrent    = 1
	DefaultRetain           = 1
	DefaultHistory          = 64
	DefaultAlignmentTimeout = int64(100 * 1e6)
	MaxHistory              = 1 << 16
	// AnyFailures as TolerableFailures never fails the job.
	AnyFailures = math.MaxInt
	// MaxRequests is how many requests may wait for their answer.
	MaxRequests = 64
	// FinalPause is the least time in nanoseconds before a final checkpoint that has
	// failed is tried again.
	FinalPause = int64(100 * 1e6)
)

// Options say when checkpoints are taken and what happens to them. The zero value
// means the defaults. Times are in nanoseconds.
type Options struct {
	// Interval is the time from a periodic checkpoint's trigger to the next. One that
	// is held up is triggered as soon as it may be, and the interval starts again
	// there: what was missed is not made up for. 0: no periodic ones.
	Interval int64
	// MinPause is the least time from the end of a checkpoint, of any kind and however it
	// ended, to the next periodic trigger. It implies MaxConcurrent 1. Default 0.
	MinPause int64
	// Timeout bounds the time from trigger to the last acknowledgement, and again the
	// time that publishing takes. Default 10 minutes.
	Timeout int64
	// MaxConcurrent is how many checkpoints may be in flight, of all kinds, for a periodic
	// one to be triggered. Savepoints never wait. Default 1.
	MaxConcurrent int
	// TolerableFailures is how many failures in a row the job survives. Expired,
	// declined and unpublished checkpoints count, savepoints do not; any complete
	// checkpoint sets the count to 0. Default 0: the first fails the job.
	TolerableFailures int
	// Retain is how many complete checkpoints are kept, besides savepoints. Default 1.
	Retain int
	// Mode is how barriers move. Default Aligned.
	Mode Mode
	// AlignmentTimeout is the time from trigger until barriers overtake, in mode Auto.
	// Default 100 ms.
	AlignmentTimeout int64
	// History is how many ended checkpoints are remembered. Default 64.
	History int
}

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxConcurrent == 0 {
		o.MaxConcurrent = DefaultMaxConcurrent
	}
	if o.Retain == 0 {
		o.Retain = DefaultRetain
	}
	if o.AlignmentTimeout == 0 {
		o.AlignmentTimeout = DefaultAlignmentTimeout
	}
	if o.History == 0 {
		o.History = DefaultHistory
	}
	return o
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("checkpoint: "+format, args...))
		}
	}
	bad(o.Interval < 0, "Interval is %d ns: set a positive time, or 0 for no periodic checkpoints", o.Interval)
	bad(o.MinPause < 0, "MinPause is %d ns: set 0 or more", o.MinPause)
	bad(o.Timeout < 0, "Timeout is %d ns: set a positive time, or 0 for 10 minutes", o.Timeout)
	bad(o.MaxConcurrent < 0, "MaxConcurrent is %d: set 1 or more, or 0 for 1", o.MaxConcurrent)
	bad(o.MinPause > 0 && o.MaxConcurrent > 1, "MaxConcurrent is %d with a MinPause: a pause between checkpoints implies 1", o.MaxConcurrent)
	bad(o.TolerableFailures < 0, "TolerableFailures is %d: set 0 or more, or AnyFailures", o.TolerableFailures)
	bad(o.Retain < 0, "Retain is %d: set 1 or more, or 0 for 1", o.Retain)
	bad(o.Mode > Auto, "Mode is %d: set Aligned, AtLeastOnce, Unaligned or Auto", o.Mode)
	bad(o.AlignmentTimeout < 0, "AlignmentTimeout is %d ns: set a positive time, or 0 for 100 ms", o.AlignmentTimeout)
	bad(o.History < 0 || o.History > MaxHistory, "History is %d: set 1 to %d, or 0 for %d", o.History, MaxHistory, DefaultHistory)
	return errors.Join(errs...)
}

// Attempt says what the coordinator of one attempt to run a job starts from.
type Attempt struct {
	// Members is the number of subtasks.
	Members int
	// Sources are the members without input. At least one.
	Sources []Member
	// Last is the newest checkpoint ID that any earlier attempt may have triggered.
	// IDs start above it.
	Last ID
	// Retained are the complete checkpoints of earlier attempts that retention takes
	// over, oldest first. Savepoints are not among them.
	Retained []ID
}

// Validate reports all that is wrong with the attempt.
func (a Attempt) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("checkpoint: "+format, args...))
		}
	}
	bad(a.Members < 1, "Members is %d: a job has at least 1", a.Members)
	bad(len(a.Sources) == 0, "no Sources: nothing would send a barrier")
	seen := map[Member]bool{}
	for _, m := range a.Sources {
		bad(m < 0 || int(m) >= a.Members, "source %d is no member: there are %d", m, a.Members)
		bad(seen[m], "source %d is listed twice", m)
		seen[m] = true
	}
	var before ID
	for _, id := range a.Retained {
		bad(id <= before, "Retained lists %d after %d: list each once, the oldest first", id, before)
		bad(id > a.Last, "Retained lists %d but Last is %d: IDs must never be used again", id, a.Last)
		before = id
	}
	return errors.Join(errs...)
}
