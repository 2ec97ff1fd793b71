package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/nexmark"
)

type nexmarkCmd struct {
	suiteFlags
	pressureFlags
	Query       []string      `help:"Only these queries." placeholder:"q0,q5,..."`
	Events      uint64        `help:"Events of a measurement of throughput. Default: 4000000, with --quick 400000." placeholder:"N"`
	Rate        eventRate     `help:"Rate of a measurement of latency, like 2M/s. Default: half of the peak." placeholder:"N/s"`
	Duration    time.Duration `help:"Length of a measurement of latency. Default: 4s, with --quick 400ms." placeholder:"TIME"`
	Parallelism int           `short:"p" help:"Subtasks of each operator. Default: 2." placeholder:"N"`

	CheckpointMode     string        `help:"How barriers move, or off." enum:"off,at-least-once,aligned,unaligned,auto" default:"aligned"`
	CheckpointInterval time.Duration `help:"From one checkpoint to the next. Default: 1s, with --quick 100ms." placeholder:"TIME"`
	Folder             string        `help:"Where to keep checkpoints. Default: the system's folder for temporary files." placeholder:"DIR"`

	EventRate uint64 `help:"Events per second of event time. Default: as many as make a measurement last a minute of it." placeholder:"N"`
	Group     uint64 `help:"Mix the order of so many events. Default: 1, which mixes none." placeholder:"N"`
	Seed      uint64 `help:"Seed of the events, and of pressure." placeholder:"N"`

	Export string `help:"Measure nothing, but write the events to a file (text if it ends in .tsv, else binary), and print the number of rows and the hash of each query's result." placeholder:"FILE"`
	Rows   string `help:"Measure nothing, but write the rows of the query to a file, and print their number and hash." placeholder:"FILE"`
	List   bool   `help:"Measure nothing, but list the queries, and those that are missing."`
}

// Validate is called by kong.
func (c *nexmarkCmd) Validate() error {
	if c.Rows != "" && len(c.Query) != 1 {
		return errors.New("--rows needs one --query")
	}
	return errors.Join(c.suiteFlags.Validate(), mayPress(nexmark.Suite, c.seeded(c.Seed)))
}

func (c *nexmarkCmd) config() nexmark.Config {
	modes := map[string]overtake.CheckpointMode{
		"at-least-once": overtake.AtLeastOnce, "aligned": overtake.Aligned, "unaligned": overtake.Unaligned, "auto": overtake.Auto,
	}
	return nexmark.Config{
		Pairs: c.Pairs, Quick: c.Quick, Filter: c.Filter, Folder: c.Folder,
		Queries: c.Query, Events: c.Events, Rate: float64(c.Rate), Duration: c.Duration, Parallelism: c.Parallelism,
		Mode: modes[c.CheckpointMode], NoCheckpoints: c.CheckpointMode == "off", Interval: c.CheckpointInterval, Pressure: c.seeded(c.Seed),
		EventRate: c.EventRate, Group: c.Group, Seed: c.Seed,
	}
}

// Run runs the suite, or exports what it works on.
func (c *nexmarkCmd) Run(e *env) (err error) {
	cfg := c.config()
	if c.List || c.Export != "" || c.Rows != "" {
		return c.describe(cfg)
	}
	ctx, stop := interruptible()
	defer stop()
	if e.progress {
		cfg.Progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	d, err := nexmark.Run(ctx, cfg)
	if err == nil {
		return c.print(d)
	}
	if c.Out != "" && d != nil && len(d.Cases) > 0 {
		err = errors.Join(err, d.Save(c.Out))
	}
	return err
}

// describe prints what the suite works on.
func (c *nexmarkCmd) describe(cfg nexmark.Config) error {
	queries, err := nexmark.Find(c.Query)
	if err != nil {
		return err
	}
	if c.List {
		for _, q := range queries {
			fmt.Printf("%-8s %s: %s\n", q.Name, q.About, strings.Join(q.Columns, ", "))
		}
		return nil
	}
	g, err := cfg.Generator()
	if err != nil {
		return err
	}
	if c.Export != "" {
		if err := g.Export(c.Export); err != nil {
			return err
		}
	}
	for _, q := range queries {
		var r nexmark.Result
		if c.Rows != "" {
			if r, err = q.ExportRows(g, c.Rows); err != nil {
				return err
			}
		} else {
			r = q.Loop(g, false)
		}
		fmt.Printf("%s\t%d\t%016x\n", q.Name, r.Rows, r.Hash)
	}
	return nil
}

// eventRate is a number of events per second, written like 2M/s.
type eventRate float64

// UnmarshalText parses a rate: a number, perhaps k, M or G, perhaps "/s".
func (r *eventRate) UnmarshalText(text []byte) error {
	s := strings.TrimSuffix(string(text), "/s")
	unit := 1.0
	for suffix, size := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if digits, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = digits, size
			break
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) {
		return fmt.Errorf("%q is not a rate: write a number of events per second, like 500k/s or 2M/s", text)
	}
	*r = eventRate(v * unit)
	return nil
}
