package nexmark

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Suite is the name of the suite.
const Suite = "nexmark"

// Config says how to run the suite. Zero fields mean the defaults.
type Config struct {
	Pairs    int               // measured pairs of each case; default 5, with Quick 3
	Quick    bool              // fewer events, shorter measurements
	Filter   string            // only cases whose name contains it
	Folder   string            // for checkpoints; default the system's for temporary files
	Progress func(line string) // gets a line for each step

	Queries     []string      // names; default all
	Events      uint64        // of a measurement of throughput; default 4 million, with Quick 400,000
	Rate        float64       // events per second of a measurement of latency; default half of the peak
	Duration    time.Duration // of a measurement of latency; default 4 s, with Quick 400 ms
	Parallelism int           // default 2

	Mode          overtake.CheckpointMode
	Interval      time.Duration // between checkpoints; default 1 s, with Quick 100 ms
	NoCheckpoints bool

	// Pressure on the jobs. What the loops by hand take stays as it is.
	Pressure pressure.Config

	EventRate uint64 // events per second of event time; default: as many as make a run last a minute of it
	Group     uint64 // see Options
	Seed      uint64
}

// Takes are the kinds of pressure that the queries can be put under. Their keys are what
// Nexmark says, skewed already.
const Takes = pressure.SlowSink | pressure.Stall | pressure.Starve | pressure.SlowDisk

// span is how much event time a measurement covers if nothing else is said: six windows.
const span = time.Minute

func (c Config) withDefaults() Config {
	quick := func(full, short int64) int64 {
		if c.Quick {
			return short
		}
		return full
	}
	if c.Pairs == 0 {
		c.Pairs = int(quick(5, 3))
	}
	if c.Folder == "" {
		c.Folder = os.TempDir()
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Events == 0 {
		c.Events = uint64(quick(4_000_000, 400_000))
	}
	if c.Duration == 0 {
		c.Duration = time.Duration(quick(4000, 400)) * time.Millisecond
	}
	if c.Parallelism == 0 {
		c.Parallelism = 2
	}
	if c.Interval == 0 {
		c.Interval = time.Duration(quick(1000, 100)) * time.Millisecond
	}
	return c
}

// Validate reports all that is wrong with the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("nexmark: "+format, args...)) }
	if c.Pairs < 1 {
		bad("Pairs is %d: set at least 1", c.Pairs)
	}
	if c.Parallelism < 1 {
		bad("Parallelism is %d: set at least 1", c.Parallelism)
	}
	if !(c.Rate >= 0) || math.IsInf(c.Rate, 1) {
		bad("Rate is %v: set a number of events per second, or 0 for half of the peak", c.Rate)
	}
	if c.Duration < 0 || c.Interval < 0 {
		bad("Duration %v, Interval %v: none may be negative", c.Duration, c.Interval)
	}
	if c.NoCheckpoints && c.Pressure.SlowDisk > 0 {
		bad("a slow disk is for checkpoints, which are off")
	}
	if _, err := Find(c.Queries); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.Pressure.Check(Suite, Takes), c.options(c.Events).Validate())...)
}

// options are those of a generator of so many events.
func (c Config) options(events uint64) Options {
	rate := c.EventRate
	if rate == 0 {
		rate = max(1, events/uint64(span/time.Second))
	}
	return Options{Events: max(1, events), Rate: rate, Group: c.Group, Seed: c.Seed}
}

// Generator is the generator of the events of a measurement of throughput: those that
// Export writes.
func (c Config) Generator() (*Generator, error) {
	c = c.withDefaults()
	return NewGenerator(c.options(c.Events))
}
