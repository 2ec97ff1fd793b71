package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/checkpoint"
)

// pressureFlags put a job under pressure on purpose.
type pressureFlags struct {
	SlowSink time.Duration `help:"Time that the sink takes for a record." group:"Pressure:"`
	Spin     bool          `help:"The slow sink computes meanwhile instead of sleeping." group:"Pressure:"`
	Skew     float64       `help:"Draw keys by Zipf's law with this exponent, above 1." placeholder:"X" group:"Pressure:"`
	otherPressureFlags
}

// otherPressureFlags are those that every job can have.
type otherPressureFlags struct {
	Stall    time.Duration `help:"One subtask of the last operator stands still for so long, again and again: a tenth of the time." group:"Pressure:"`
	Starve   bool          `help:"Each channel has one buffer of credit, and none to borrow." group:"Pressure:"`
	SlowDisk diskRate      `help:"Bytes per second that checkpoints are written and read with, as in 10MB/s." placeholder:"RATE" group:"Pressure:"`
}

// seedFlag is the seed of what the pressure has at random.
type seedFlag struct {
	Seed uint64 `help:"Seed of what is random." default:"1" placeholder:"N" group:"Pressure:"`
}

// seededFlags are the pressure of a suite that has no seed of its own.
type seededFlags struct {
	pressureFlags
	seedFlag
}

func (f seededFlags) pressure() pressure.Config { return f.pressureFlags.seeded(f.Seed) }

func (f pressureFlags) seeded(seed uint64) pressure.Config {
	c := f.otherPressureFlags.seeded(seed)
	c.SlowSink, c.Spin, c.Skew = f.SlowSink, f.Spin, f.Skew
	return c
}

func (f otherPressureFlags) seeded(seed uint64) pressure.Config {
	return pressure.Config{Stall: f.Stall, Starve: f.Starve, SlowDisk: int64(f.SlowDisk), Seed: seed}
}

// pressure is that of any job.
func (f jobFlags) pressure() pressure.Config { return f.otherPressureFlags.seeded(f.Seed) }

// mayPress reports what is wrong with the pressure on a suite: kinds, too, that make no sense
// for it, with the suites for which they do.
func mayPress(name string, c pressure.Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	var wrong pressure.Kinds
	for _, s := range suites() {
		if s.name == name {
			wrong = c.Kinds() &^ s.takes
		}
	}
	var errs []error
	for _, kind := range wrong.Each() {
		var others []string
		for _, s := range suites() {
			if s.takes&kind != 0 {
				others = append(others, s.name)
			}
		}
		errs = append(errs, fmt.Errorf("--%v makes no sense for %s: it is for %s", kind, name, strings.Join(others, ", ")))
	}
	return errors.Join(errs...)
}

// slowStore puts a slow disk between a job and its checkpoints, if there is to be one.
func (f jobFlags) slowStore(o *overtake.Options) (closeStore func(), err error) {
	closeStore = func() {}
	if f.SlowDisk == 0 {
		return closeStore, nil
	}
	p, c := f.pressure(), &o.Checkpoints
	if !f.first() {
		c.Store = checkpoint.NewMemory() // only the first worker's is used
		blobs, err := checkpoint.OpenBlobs(c.Dir, checkpoint.Options{})
		c.Blobs, c.Dir = p.Blobs(blobs), ""
		return closeStore, err
	}
	end, err := p.Directory(c)
	if err != nil {
		return closeStore, err
	}
	c.Blobs = c.Store
	return func() { _ = end() }, nil
}

// diskRate is a number of bytes per second, written like 10MB/s.
type diskRate int64

// UnmarshalText parses a rate: a number and one of B/s, kB/s, MB/s, GB/s.
func (r *diskRate) UnmarshalText(text []byte) error {
	for _, unit := range []struct {
		suffix string
		size   int64
	}{{"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"B/s", 1}} {
		digits, ok := strings.CutSuffix(string(text), unit.suffix)
		if !ok {
			continue
		}
		var n int64
		if _, err := fmt.Sscanf(digits+"|", "%d|", &n); err != nil || n < 1 || n > 1<<60/unit.size {
			break
		}
		*r = diskRate(n * unit.size)
		return nil
	}
	return fmt.Errorf("%q is not a rate: write a number and B/s, kB/s, MB/s or GB/s, as in 10MB/s", text)
}
