package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/bench"
)

type benchCmd struct {
	profileFlags

	Exchange exchangeCmd `cmd:"" help:"Measure the exchange: throughput, latency, memory."`
	State    stateCmd    `cmd:"" help:"Measure keyed state: speed, memory, snapshots."`

	Operators operatorsCmd `cmd:"" help:"Measure whole jobs of single operators: maps, shuffles, totals by key."`
	All       allCmd       `cmd:"" help:"Run every suite, and say which goals were met."`

	Checkpoint   checkpointCmd `cmd:"" help:"Measure checkpoints of large state: speed, pauses, bytes."`
	Backpressure pressureCmd   `cmd:"" name:"checkpoint-backpressure" help:"Measure checkpoints while a sink is slow."`
	Recovery     recoveryCmd   `cmd:"" help:"Measure how long a killed job takes to go on."`

	Perf perfCostCmd `cmd:"" help:"Measure what the always-on account of times costs."`

	Nexmark nexmarkCmd `cmd:"" help:"Measure the queries of Nexmark, and check their results."`

	Peers peersCmd `cmd:"" help:"Compare with other systems, which are built first."`

	Report  reportCmd  `cmd:"" help:"Draw results: one HTML page with tables and plots."`
	Compare compareCmd `cmd:"" help:"Compare results with earlier ones; exit 1 if something has become worse."`
}

// suiteFlags are the flags of every suite.
type suiteFlags struct {
	JSON   bool   `help:"Print the result as JSON." name:"json"`
	Out    string `help:"Write the result as JSON to a file, too." placeholder:"FILE"`
	Quick  bool   `help:"Shorter measurements, and fewer of them."`
	Pairs  int    `help:"Measured pairs of each case. Default: 5, with --quick 3." placeholder:"N"`
	Filter string `help:"Only cases whose name contains this." placeholder:"TEXT"`
}

type exchangeCmd struct {
	suiteFlags
	seededFlags
}

const exchangeSuite = "exchange"

// Validate is called by kong.
func (c *exchangeCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(exchangeSuite, c.pressure()))
}

// Run runs the suite.
func (c *exchangeCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	cfg := c.config(e)
	cfg.Pressure = c.pressure()
	d, err := bench.Run(ctx, cfg, exchangeSuite, bench.Exchange(c.Quick, cfg.Pressure))
	return c.conclude(d, err)
}

// Validate is called by kong.
func (f suiteFlags) Validate() error { return writable(f.Out) }

// writable finds out before a long measurement what would be in the way of its result.
func writable(file string) error {
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("--out %s is a folder: name a file", file)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// print writes the document where the flags say. What cannot be saved is printed all the
// same: it has taken long.
func (f suiteFlags) print(d *bench.Document) (err error) {
	if f.Out != "" {
		err = d.Save(f.Out)
	}
	if f.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return errors.Join(err, out.Encode(d))
	}
	return errors.Join(err, d.WriteText(os.Stdout))
}
