package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/overtake-stream/overtake/bench/state"
)

type stateCmd struct {
	suiteFlags
	seededFlags
	Sizes   []int64 `help:"Numbers of keys of 8+8 bytes. Default: 1, 10 and 100 million, with --quick 1 and 10." placeholder:"N"`
	Records int64   `help:"Number of keys of 16+200 bytes. Default: 1 million." placeholder:"N"`
	Folder  string  `help:"Where to write files. Default: the system's folder for temporary ones." placeholder:"DIR"`
}

const stateSuite = "state"

// Validate is called by kong.
func (c *stateCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(stateSuite, c.pressure()))
}

// Run runs the suite.
func (c *stateCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	cfg := state.Config{
		Sizes: c.Sizes, Records: c.Records, Pairs: c.Pairs, Quick: c.Quick, Filter: c.Filter, Folder: c.Folder, Seed: c.Seed, Pressure: c.pressure(),
	}
	if e.progress {
		cfg.Progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	d, err := state.Run(ctx, cfg)
	if err == nil {
		return c.print(d)
	}
	if c.Out != "" && d != nil && len(d.Cases) > 0 { // large sizes take long: what there is may do
		err = errors.Join(err, d.Save(c.Out))
	}
	return err
}
