package nexmark

import (
	"errors"
	"fmt"
)

// Options says which events there are. Zero fields mean the defaults.
type Options struct {
	Events uint64 // how many; default 1 million
	Rate   uint64 // events per second of event time, up to 1 billion; default 10,000
	Group  uint64 // events within which the order is mixed; default 1: none is
	Base   int64  // time of the first event in Unix milliseconds; default 2015-07-15
	Seed   uint64 // of all random numbers
}

// Events of other numbers overflow on the way to microseconds.
const maxEvents = 1 << 40

func (o Options) withDefaults() Options {
	if o.Events == 0 {
		o.Events = 1_000_000
	}
	if o.Rate == 0 {
		o.Rate = 10_000
	}
	if o.Group == 0 {
		o.Group = 1
	}
	if o.Base == 0 {
		o.Base = 1_436_918_400_000
	}
	return o
}

// Validate reports all problems at once.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("nexmark: "+format, args...)) }
	if o.Events > maxEvents {
		bad("Events is %d: set at most %d", o.Events, uint64(maxEvents))
	}
	if o.Rate > 1e9 {
		bad("Rate is %d: set at most 1000000000 events per second", o.Rate)
	}
	if o.Group%mixer == 0 || o.Group > 1<<20 {
		bad("Group is %d: set at most %d, and no multiple of %d, which would repeat events", o.Group, 1<<20, mixer)
	}
	if o.Base < 0 || o.Base > 1<<50 {
		bad("Base is %d: set a time between 1970 and the year 30000", o.Base)
	}
	return errors.Join(errs...)
}
