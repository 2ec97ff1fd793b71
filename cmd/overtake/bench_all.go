package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/ckpt"
	"github.com/overtake-stream/overtake/bench/nexmark"
	"github.com/overtake-stream/overtake/bench/operators"
	"github.com/overtake-stream/overtake/bench/perfcost"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/bench/state"
	"github.com/overtake-stream/overtake/perf/ebpf"
)

// suite is a row of the table of suites that "bench all" runs.
type suite struct {
	name  string
	takes pressure.Kinds
	run   func(ctx context.Context, c suiteConfig) (*bench.Document, error)
}

// suiteConfig is what "bench all" says to each suite.
type suiteConfig struct {
	bench.Config
	env    *env
	folder string // for files
}

// suites are all of them. To add one, add a row.
func suites() []suite {
	return []suite{
		{exchangeSuite, bench.ExchangeTakes, func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
			return bench.Run(ctx, c.Config, exchangeSuite, bench.Exchange(c.Quick, c.Pressure))
		}},
		{operators.Suite, operators.Takes, func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
			return operators.Run(ctx, operators.Config{Config: c.Config})
		}},
		{stateSuite, state.Takes, func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
			cfg := state.Config{Pairs: c.Pairs, Quick: c.Quick, Folder: c.folder, Progress: c.Progress, Pressure: c.Pressure}
			if c.Quick { // the sizes of its own quick run take three times as long
				cfg.Sizes, cfg.Records, cfg.Trees = []int64{1e6, 3e6}, 300_000, 1e6
			}
			return state.Run(ctx, cfg)
		}},
		{ckpt.Checkpoint, ckpt.Takes(ckpt.Checkpoint), checkpoints(ckpt.Checkpoint)},
		{ckpt.Backpressure, ckpt.Takes(ckpt.Backpressure), checkpoints(ckpt.Backpressure)},
		{ckpt.Recovery, ckpt.Takes(ckpt.Recovery), checkpoints(ckpt.Recovery)},
		{nexmark.Suite, nexmark.Takes, func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
			return nexmark.Run(ctx, nexmark.Config{Pairs: c.Pairs, Quick: c.Quick, Folder: c.folder, Pressure: c.Pressure, Progress: c.Progress})
		}},
		{perfcost.Suite, perfcost.Takes, func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
			return perfcost.Run(ctx, perfcost.Config{Config: c.Config, Observe: observer(ctx, c.env), Traps: ebpf.TrapCosts})
		}},
	}
}

func checkpoints(name string) func(context.Context, suiteConfig) (*bench.Document, error) {
	return func(ctx context.Context, c suiteConfig) (*bench.Document, error) {
		cfg := ckpt.Config{Pairs: c.Pairs, Quick: c.Quick, Folder: c.folder, Progress: c.Progress, Pressure: c.Pressure}
		if c.Quick {
			cfg.Pairs, cfg.Checkpoints, cfg.Patience = cmp.Or(c.Pairs, 3), 10, 2*time.Second
		}
		return ckpt.Run(ctx, cfg, name)
	}
}

type allCmd struct {
	seededFlags
	Out    string   `help:"Write a result as JSON for each suite into this folder." placeholder:"DIR"`
	Quick  bool     `help:"Shorter measurements, and fewer of them: all within ten minutes on two idle cores."`
	Pairs  int      `help:"Measured pairs of each case. Default: 5, with --quick 3." placeholder:"N"`
	Suite  []string `help:"Only these suites." placeholder:"NAME"`
	Folder string   `help:"Where to write other files. Default: the system's folder for temporary ones." placeholder:"DIR"`
}

// Validate is called by kong.
func (c *allCmd) Validate() error {
	var known []string
	for _, s := range suites() {
		known = append(known, s.name)
	}
	for _, name := range c.Suite {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--suite %s: there are %s", name, strings.Join(known, ", "))
		}
	}
	return c.pressure().Validate()
}

// Run runs suite after suite, each under the kinds of pressure that make sense for it. One
// that fails does not stop the others.
func (c *allCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return err
		}
	}
	cfg := suiteConfig{env: e, folder: c.Folder}
	cfg.Config = suiteFlags{Quick: c.Quick, Pairs: c.Pairs}.config(e)
	var docs []*bench.Document
	var failed []error
	began := time.Now()
	for _, s := range suites() {
		if len(c.Suite) > 0 && !slices.Contains(c.Suite, s.name) {
			continue
		}
		cfg.Pressure = c.pressure().Only(s.takes)
		d, err := c.one(ctx, e, s, cfg)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("suite %s: %w", s.name, err))
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	fmt.Printf("%d suites in %v, %d failed\n", len(docs), time.Since(began).Round(time.Second), len(failed))
	return errors.Join(append(failed, bench.WriteGoals(os.Stdout, docs))...)
}

// one runs a suite, and prints and saves what it has, even if it failed.
func (c *allCmd) one(ctx context.Context, e *env, s suite, cfg suiteConfig) (*bench.Document, error) {
	if e.progress {
		fmt.Fprintln(os.Stderr, "suite", s.name)
	}
	began := time.Now()
	d, err := s.run(ctx, cfg)
	if d == nil || len(d.Cases) == 0 {
		return nil, err
	}
	for _, r := range d.Cases {
		r.Parameters["suite_seconds"] = time.Since(began).Round(time.Second).Seconds()
	}
	if err2 := d.WriteText(os.Stdout); err2 != nil {
		return d, errors.Join(err, err2)
	}
	fmt.Printf("\n%s took %v\n\n", s.name, time.Since(began).Round(time.Second))
	if c.Out != "" {
		err = errors.Join(err, d.Save(filepath.Join(c.Out, s.name+".json")))
	}
	return d, err
}
