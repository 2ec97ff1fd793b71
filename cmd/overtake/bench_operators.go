package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/operators"
)

type operatorsCmd struct {
	suiteFlags
	seededFlags
	Parallelism int `help:"Parallelism of the jobs, and of the work by hand. Default: 2." placeholder:"N"`
}

// Validate is called by kong.
func (c *operatorsCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(operators.Suite, c.pressure()))
}

// Run runs the suite.
func (c *operatorsCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	cfg := operators.Config{Config: c.config(e), Parallelism: c.Parallelism}
	cfg.Pressure = c.pressure()
	d, err := operators.Run(ctx, cfg)
	return c.conclude(d, err)
}

// config is what the flags say to the harness.
func (f suiteFlags) config(e *env) bench.Config {
	cfg := bench.Config{Pairs: f.Pairs, Quick: f.Quick, Filter: f.Filter}
	if e.progress {
		cfg.Progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	return cfg
}

// conclude prints a result. Of a suite that ended early it keeps what there is.
func (f suiteFlags) conclude(d *bench.Document, err error) error {
	if err == nil {
		return f.print(d)
	}
	if f.Out != "" && d != nil && len(d.Cases) > 0 {
		err = errors.Join(err, d.Save(f.Out))
	}
	return err
}
