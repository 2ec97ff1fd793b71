package overtake

import (
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// CheckpointMode says how the barriers of checkpoints move through the job.
type CheckpointMode = protocol.Mode

// The modes. Aligned is the default; all but AtLeastOnce are exactly-once.
const (
	Aligned     = protocol.Aligned
	AtLeastOnce = protocol.AtLeastOnce
	Unaligned   = protocol.Unaligned
	Auto        = protocol.Auto
)

// Checkpoints says when the job's state is made durable, and where. Without Dir and
// Store it never is: then a failure ends the job.
type Checkpoints struct {
	// Dir is the directory of the embedded store. All workers need to see the same.
	Dir string
	// Store replaces Dir. It is the caller's, who closes it; one job at a time may use it.
	// With several workers, Blobs must be set too.
	Store checkpoint.Store
	// Blobs gives workers other than the first access to what Store keeps.
	Blobs checkpoint.Blobs

	// LocalDir is a directory of this machine's own where each worker keeps a copy of what
	// it writes. A recovery prefers the copies, and falls back to the store.
	LocalDir string

	Interval time.Duration // from one to the next; default 10 s; negative: only on request
	MinPause time.Duration // least time from the end of one to the trigger of the next; implies one at a time
	Timeout  time.Duration // of a single one; default 10 min
	Mode     CheckpointMode
	// AlignmentTimeout is the time after which the barriers of an Auto checkpoint
	// overtake; default 100 ms.
	AlignmentTimeout time.Duration

	MaxConcurrent     int // in flight at once; default 1
	TolerableFailures int // in a row; one more fails the job's attempt; default 0
	Retain            int // complete ones that are kept; default 1
	// DeleteOnEnd deletes all but savepoints when the job has ended or is cancelled,
	// instead of keeping them for the next run.
	DeleteOnEnd bool

	// From is what to begin with: the path of a savepoint, or "latest" (default), or
	// "none", which ignores what is in the store.
	From string
	// AllowNonRestored accepts that state in the checkpoint belongs to no operator of
	// the job. It is dropped with the next checkpoint.
	AllowNonRestored bool
}

// Restart says what happens when the job's attempt fails. It needs Checkpoints: the
// next attempt begins with the latest. The zero value is three more attempts within a
// minute at most, 1 s apart.
type Restart struct {
	// Attempts is how many failures within Window are survived; default 3; negative: none.
	Attempts int
	// Window is the time within which Attempts are counted; default 1 min; negative:
	// the job's whole life.
	Window time.Duration
	// Delay is the pause before the next attempt; default 1 s.
	Delay time.Duration
	// MaxDelay, if larger than Delay, lets the pause double with each attempt up to it.
	// It falls back to Delay when an attempt has lived for longer than Window.
	MaxDelay time.Duration
}

// Enabled reports whether checkpoints are taken at all.
func (c Checkpoints) Enabled() bool { return c.Dir != "" || c.Store != nil || c.Blobs != nil }

func (c Checkpoints) protocol() protocol.Options {
	return protocol.Options{
		Interval: int64(max(c.Interval, 0)), MinPause: int64(c.MinPause), Timeout: int64(c.Timeout), Mode: c.Mode,
		AlignmentTimeout: int64(c.AlignmentTimeout), MaxConcurrent: c.MaxConcurrent,
		TolerableFailures: c.TolerableFailures, Retain: c.Retain,
	}
}

func (c Checkpoints) withDefaults() Checkpoints {
	set(&c.Interval, 10*time.Second)
	if c.From == "" {
		c.From = "latest"
	}
	return c
}

func (r Restart) withDefaults() Restart {
	set(&r.Attempts, 3)
	set(&r.Window, time.Minute)
	set(&r.Delay, time.Second)
	return r
}

func (c Checkpoints) validate(workers, index int) error {
	if !c.Enabled() {
		return nil
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("overtake: options: Checkpoints."+format, args...))
	}
	if c.Dir != "" && c.Store != nil {
		bad("Dir and Store exclude each other")
	}
	if c.Dir == "" && c.Store == nil && index == 0 {
		bad("Store is missing: the first worker needs it")
	}
	if c.Dir == "" && c.Blobs == nil && workers > 1 {
		bad("Blobs is missing: %d workers need access to the store", workers)
	}
	return errors.Join(append(errs, c.protocol().Validate())...)
}
