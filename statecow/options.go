package statecow

import (
	"errors"
	"fmt"
	"math/bits"
)

// Limits and defaults of Options.
const (
	DefaultBudget      = 1 << 30
	MinBudget          = 1 << 20
	MaxBudget          = 32 << 30 // addresses are 32 bits of 8-byte units
	DefaultMaxGroups   = 128
	MaxGroupsLimit     = 1 << 15
	DefaultSegmentSize = 256 << 10
	DefaultGarbage     = 1.0
)

// Options configure a map. The zero value means the defaults.
type Options struct {
	// Budget is the most memory, in bytes, that log, index and marks may use.
	// Default 1 GiB, at least 1 MiB, at most 32 GiB. Bitmaps copied for an open
	// snapshot come on top: at most 1/64 of the log for each one open.
	Budget int64
	// MaxGroups is the number of key groups of the job. Default 128.
	MaxGroups int
	// Groups are the key groups that the map owns. Default all.
	Groups Groups
	// Garbage is how much dead data the log may hold, as a multiple of the live
	// data, before segments are compacted. Default 1: the log stays below twice
	// the live bytes. From 0.1 to 16.
	Garbage float64
	// SegmentSize is the size of a log segment in bytes: a power of two from
	// 64 KiB to 4 MiB. Default 256 KiB; halved until a small budget holds 32.
	SegmentSize int

	heap bool // memory from the Go heap, which the race detector watches
}

func (o Options) withDefaults() Options {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.MaxGroups == 0 {
		o.MaxGroups = DefaultMaxGroups
	}
	if o.Groups == (Groups{}) {
		o.Groups = Groups{0, o.MaxGroups}
	}
	if o.Garbage == 0 {
		o.Garbage = DefaultGarbage
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = DefaultSegmentSize
		for o.SegmentSize > 64<<10 && int64(o.SegmentSize) > o.Budget/32 {
			o.SegmentSize /= 2
		}
	}
	return o
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("statecow: "+format, args...))
		}
	}
	bad(o.Budget < MinBudget || o.Budget > MaxBudget, "Budget is %d bytes: set %d to %d", o.Budget, MinBudget, int64(MaxBudget))
	bad(o.MaxGroups < 1 || o.MaxGroups > MaxGroupsLimit, "MaxGroups is %d: set 1 to %d", o.MaxGroups, MaxGroupsLimit)
	bad(o.Groups.First < 0 || o.Groups.First >= o.Groups.End || o.Groups.End > o.MaxGroups,
		"Groups are %d to %d exclusive: set a range within 0 to %d", o.Groups.First, o.Groups.End, o.MaxGroups)
	bad(!(o.Garbage >= 0.1 && o.Garbage <= 16), "Garbage is %v: set 0.1 to 16", o.Garbage)
	bad(o.SegmentSize < 64<<10 || o.SegmentSize > 4<<20 || bits.OnesCount(uint(o.SegmentSize)) != 1,
		"SegmentSize is %d: set a power of two from 64 KiB to 4 MiB", o.SegmentSize)
	bad(len(errs) == 0 && int64(o.SegmentSize) > o.Budget/8,
		"SegmentSize %d is too large for a Budget of %d: at least 8 must fit", o.SegmentSize, o.Budget)
	return errors.Join(errs...)
}
