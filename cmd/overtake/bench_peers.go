package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/peers"
)

type peersCmd struct {
	Peer   []string      `help:"Only these peers." placeholder:"NAME"`
	Case   []string      `help:"Only cases whose name contains one of these." placeholder:"TEXT"`
	Quick  bool          `help:"Shorter measurements, and fewer of them."`
	Pairs  int           `help:"Measured pairs of each case. Default: 5, with --quick 3." placeholder:"N"`
	JSON   bool          `help:"Print the result as JSON." name:"json"`
	Out    string        `help:"Write the result as JSON to a file, too." placeholder:"FILE"`
	Limit  time.Duration `help:"Longest time of one process. Default: 10m." placeholder:"TIME"`
	Cache  string        `help:"Where to keep programs that were built. Default: below the user's cache folder." placeholder:"DIR"`
	Folder string        `help:"Where to write files. Default: the system's folder for temporary ones." placeholder:"DIR"`
}

// Run runs the suite. What there is when something fails is printed.
func (c *peersCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	cfg := peers.Config{
		Peers: c.Peer, Cases: c.Case, Quick: c.Quick, Pairs: c.Pairs, Limit: c.Limit, Cache: c.Cache, Folder: c.Folder,
	}
	if e.progress {
		cfg.Progress = func(line string) { fmt.Fprintln(os.Stderr, line) }
	}
	d, err := peers.Run(ctx, cfg)
	if d == nil || len(d.Cases) == 0 {
		return err
	}
	return errors.Join(err, c.print(d))
}

// Validate is called by kong.
func (c *peersCmd) Validate() error { return writable(c.Out) }

func (c *peersCmd) print(d *bench.Document) (err error) {
	if c.Out != "" {
		err = d.Save(c.Out)
	}
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return errors.Join(err, out.Encode(d))
	}
	return errors.Join(err, peers.WriteText(os.Stdout, d))
}
