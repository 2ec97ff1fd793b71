package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Config says how to run the suite. The zero value means the defaults.
type Config struct {
	// Sizes are numbers of keys of 8 bytes with values of 8 bytes. Default 1, 10 and
	// 100 million, with Quick 1 and 10. The largest size needs 100 bytes of memory a key.
	Sizes []int64
	// Records is the number of keys of 16 bytes with values of 200. Default 1 million.
	Records int64
	Pairs   int    // measured pairs of each case; default 5, with Quick 3
	Quick   bool   // shorter measurements
	Filter  string // only cases whose name contains it
	Folder  string // for files; default the system's for temporary ones
	Seed    uint64 // of the keys; default 1

	// Trees is the greatest size at which B-tree and hash trie are loaded, which takes
	// them minutes for 100 million keys. Default 10 million, with Quick 1.
	Trees int64
	// Large is the size from which on cases whose runs load the store have one pair, and
	// those that restore, settle or collect all of it two. Default 50 million.
	Large int64
	// Pressure: of Skew, the keys that are updated and read, of all stores; of SlowDisk, what
	// snapshots are written to. There are only the cases that it has an effect on.
	Pressure pressure.Config

	// Progress gets a line for each step.
	Progress func(line string)
}

// Takes are the kinds of pressure that stores can be put under.
const Takes = pressure.Skew | pressure.SlowDisk

func (c Config) withDefaults() Config {
	if len(c.Sizes) == 0 {
		c.Sizes = []int64{1e6, 10e6, 100e6}
		if c.Quick {
			c.Sizes = c.Sizes[:2]
		}
	}
	if c.Records == 0 {
		c.Records = 1e6
	}
	if c.Pairs == 0 {
		c.Pairs = 5
		if c.Quick {
			c.Pairs = 3
		}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Trees == 0 {
		c.Trees = 10e6
		if c.Quick {
			c.Trees = 1e6
		}
	}
	if c.Large == 0 {
		c.Large = 50e6
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
	for _, n := range append([]int64{c.Records}, c.Sizes...) {
		if n < 1000 || n > 1e9 {
			errs = append(errs, fmt.Errorf("state: a size is %d keys: set 1000 to 1000000000", n))
		}
	}
	if c.Pairs < 1 {
		errs = append(errs, fmt.Errorf("state: Pairs is %d: set at least 1", c.Pairs))
	}
	return errors.Join(append(errs, c.Pressure.Check("state", Takes))...)
}

// Run runs the suite. An error of any measurement ends it.
func Run(ctx context.Context, cfg Config) (d *bench.Document, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	f := &fleet{peers: map[spec]*peer{}}
	defer func() { err = errors.Join(err, f.keep(func(spec) bool { return false })) }()
	for _, g := range cfg.groups(f) {
		if !bench.Wanted(g.cases, cfg.Filter) || cfg.Pressure.Active() && g.takes&cfg.Pressure.Kinds() == 0 {
			continue
		}
		if err := f.keep(g.alive); err != nil {
			return d, err
		}
		part, err := bench.Run(ctx, bench.Config{Pairs: g.pairs, Quick: cfg.Quick, Filter: cfg.Filter, Progress: cfg.Progress, Pressure: cfg.Pressure.Only(g.takes)}, "state", g.cases)
		d = d.Join(part)
		if err != nil {
			return d, err
		}
		if g.after != nil {
			g.after(d.Cases[len(d.Cases)-len(part.Cases):])
		}
	}
	if d == nil {
		return d, fmt.Errorf("state: no case has %q in its name", cfg.Filter)
	}
	return d, nil
}

// group is cases that need the same processes.
type group struct {
	cases []bench.Case
	pairs int
	alive func(spec) bool      // which processes may go on
	after func([]bench.Result) // adds to the results what is known only then
	takes pressure.Kinds       // that have an effect on them
}
