package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/overtake-stream/overtake/bench/ckpt"
)

// snapshotFlags are the flags of the suites that measure checkpoints.
type snapshotFlags struct {
	suiteFlags
	Folder string `help:"Where to keep checkpoints. Default: the system's folder for temporary files." placeholder:"DIR"`
}

// countingFlags are those of the suites whose job counts by key.
type countingFlags struct {
	snapshotFlags
	State       int64   `help:"Bytes of keys and values. Default: 1000000000, with --quick a tenth." placeholder:"N"`
	Parallelism int     `help:"Parallelism of the job. Default: 2." placeholder:"N"`
	Changing    float64 `help:"Part of the keys that changes between two checkpoints. Default: 0.01." placeholder:"X"`
}

type checkpointCmd struct {
	countingFlags
	seededFlags
	Interval time.Duration `help:"From one checkpoint to the next. Default: 100ms." placeholder:"TIME"`
	Slice    time.Duration `help:"Length of a slice. Default: 4s, with --quick 1.5s." placeholder:"TIME"`
}

type pressureCmd struct {
	snapshotFlags
	seededFlags
	Checkpoints int           `help:"Checkpoints of a measurement. Default: 50, with --quick 20." placeholder:"N"`
	Patience    time.Duration `help:"Longest wait for one of them. Default: 1m, with --quick 4s." placeholder:"TIME"`
}

type recoveryCmd struct {
	countingFlags
	seededFlags
}

// Validate is called by kong.
func (c *checkpointCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(ckpt.Checkpoint, c.pressure()))
}

// Validate is called by kong.
func (c *pressureCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(ckpt.Backpressure, c.pressure()))
}

// Validate is called by kong.
func (c *recoveryCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(ckpt.Recovery, c.pressure()))
}

// Run runs the suite.
func (c *checkpointCmd) Run(e *env) error {
	cfg := c.counting()
	cfg.Interval, cfg.Slice, cfg.Pressure = c.Interval, c.Slice, c.pressure()
	return c.measure(e, ckpt.Checkpoint, cfg)
}

// Run runs the suite.
func (c *pressureCmd) Run(e *env) error {
	return c.measure(e, ckpt.Backpressure, ckpt.Config{Checkpoints: c.Checkpoints, Patience: c.Patience, Pressure: c.pressure()})
}

// Run runs the suite.
func (c *recoveryCmd) Run(e *env) error {
	cfg := c.counting()
	cfg.Pressure = c.pressure()
	return c.measure(e, ckpt.Recovery, cfg)
}

func (f countingFlags) counting() ckpt.Config {
	return ckpt.Config{State: f.State, Parallelism: f.Parallelism, Changing: f.Changing}
}

// measure runs a suite and prints what it has. What there is when it ends early is kept.
func (f snapshotFlags) measure(e *env, suite string, cfg ckpt.Config) (err error) {
	ctx, stop := interruptible()
	defer stop()
	cfg.Pairs, cfg.Quick, cfg.Filter, cfg.Folder = f.Pairs, f.Quick, f.Filter, f.Folder
	if e.progress {
		cfg.Progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	d, err := ckpt.Run(ctx, cfg, suite)
	if err == nil {
		return f.print(d)
	}
	if f.Out != "" && d != nil && len(d.Cases) > 0 {
		err = errors.Join(err, d.Save(f.Out))
	}
	return err
}
