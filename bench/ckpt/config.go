package ckpt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/overtake-stream/overtake/bench"
	squeeze "github.com/overtake-stream/overtake/bench/pressure"
)

// Names of the suites.
const (
	Checkpoint   = "checkpoint"
	Backpressure = "checkpoint-backpressure"
	Recovery     = "recovery"
)

// Takes are the kinds of pressure that the jobs of a suite can be put under.
func Takes(suite string) squeeze.Kinds {
	all := squeeze.SlowSink | squeeze.Skew | squeeze.Stall | squeeze.Starve | squeeze.SlowDisk
	if suite == Backpressure { // it has no keys
		return all &^ squeeze.Skew
	}
	return all
}

// entryBytes is what a key and its count take without what surrounds them.
const entryBytes = 16

// Config says how to run a suite. The zero value means the defaults.
type Config struct {
	Pairs  int    // measured pairs of each case; default 5
	Quick  bool   // less state, shorter measurements, fewer parameters
	Filter string // only cases whose name contains it
	Folder string // for stores; default the system's for temporary files

	State       int64         // bytes of keys and values; default 1 GB, with Quick 100 MB
	Parallelism int           // of the counting job; default 2
	Interval    time.Duration // between checkpoints; default 100 ms
	Changing    float64       // part of the keys that changes in an interval; default 0.01
	Slice       time.Duration // length of a slice; default 4 s, with Quick 1.5 s

	Checkpoints int           // of a measurement under backpressure; default 50, with Quick 20
	Patience    time.Duration // for one of those; default 1 min, with Quick 4 s

	// Pressure on the jobs, of the kinds that the suite Takes. A slow sink of Backpressure
	// takes the place of those that it has; in the others it begins once the state is filled,
	// as a stall does. In Recovery that is the job that is killed, and that goes on.
	Pressure squeeze.Config

	// Progress gets a line for each step.
	Progress func(line string)
}

func (c Config) withDefaults() Config {
	pick := func(full, quick int64) int64 {
		if c.Quick {
			return quick
		}
		return full
	}
	if c.Pairs == 0 {
		c.Pairs = 5
	}
	if c.Folder == "" {
		c.Folder = os.TempDir()
	}
	if c.State == 0 {
		c.State = pick(1e9, 100e6)
	}
	if c.Parallelism == 0 {
		c.Parallelism = 2
	}
	if c.Interval == 0 {
		c.Interval = 100 * time.Millisecond
	}
	if c.Changing == 0 {
		c.Changing = 0.01
	}
	if c.Slice == 0 {
		c.Slice = time.Duration(pick(4000, 1500)) * time.Millisecond
	}
	if c.Checkpoints == 0 {
		c.Checkpoints = int(pick(50, 20))
	}
	if c.Patience == 0 {
		c.Patience = time.Duration(pick(60, 4)) * time.Second
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// Validate reports all that is wrong with the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("ckpt: "+format, args...)) }
	if c.Pairs < 1 {
		bad("Pairs is %d: set at least 1", c.Pairs)
	}
	if c.State < 100*entryBytes {
		bad("State is %d bytes: set at least %d", c.State, 100*entryBytes)
	}
	if c.Parallelism < 1 {
		bad("Parallelism is %d: set at least 1", c.Parallelism)
	}
	if !(c.Changing > 0 && c.Changing <= 1) {
		bad("Changing is %v: set a part of the keys, above 0 and at most 1", c.Changing)
	}
	if c.Interval < 0 || c.Slice < c.Interval || c.Patience < 0 {
		bad("Interval %v, Slice %v, Patience %v: none may be negative, and a slice holds an interval at least", c.Interval, c.Slice, c.Patience)
	}
	if c.Checkpoints < 1 {
		bad("Checkpoints is %d: set at least 1", c.Checkpoints)
	}
	return errors.Join(append(errs, c.Pressure.Validate())...)
}

// keys is how many keys the state has, and window how many of them change in an interval.
func (c Config) keys() uint64   { return uint64(c.State / entryBytes) }
func (c Config) window() uint64 { return max(1, uint64(float64(c.keys())*c.Changing)) }

// group is cases that share what is running.
type group struct {
	cases []bench.Case
	after func([]bench.Result) // adds to the results what is known only then
	close func() error         // ends what is running
}

// Run runs a suite. An error of any measurement ends it; the document then has what was
// measured before.
func Run(ctx context.Context, cfg Config, suite string) (*bench.Document, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.Pressure.Check(suite, Takes(suite)); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	var groups []group
	switch suite {
	case Checkpoint:
		groups = cfg.steadyGroups()
	case Backpressure:
		groups = cfg.pressureGroups()
	case Recovery:
		groups = cfg.recoveryGroups()
	default:
		return nil, fmt.Errorf("ckpt: no suite %q", suite)
	}
	var d *bench.Document
	for _, g := range groups {
		if !bench.Wanted(g.cases, cfg.Filter) {
			continue
		}
		part, err := cfg.runGroup(ctx, suite, g)
		d = d.Join(part)
		if err != nil {
			return d, err
		}
	}
	if d == nil {
		return d, fmt.Errorf("ckpt: no case of %s has %q in its name", suite, cfg.Filter)
	}
	return d, nil
}

func (c Config) runGroup(ctx context.Context, suite string, g group) (d *bench.Document, err error) {
	if g.close != nil {
		defer func() { err = errors.Join(err, g.close()) }()
	}
	before := load()
	size := bench.Size(1)
	if c.Quick {
		size = 10
	}
	d, err = bench.Run(ctx, bench.Config{Pairs: c.Pairs, Quick: c.Quick, Size: size, Filter: c.Filter, Progress: c.Progress, Pressure: c.Pressure}, suite, g.cases)
	for i := range d.Cases {
		d.Cases[i].Parameters["load_average"] = max(before, load())
	}
	if g.after != nil {
		g.after(d.Cases)
	}
	return d, err
}

// load is how many processes have wanted a processor in the last minute, on average.
func load() (l float64) {
	b, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, _ = fmt.Sscan(string(b), &l)
	}
	return l
}
