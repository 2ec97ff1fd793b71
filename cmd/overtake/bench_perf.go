package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/overtake-stream/overtake/bench/perfcost"
)

type perfCostCmd struct {
	suiteFlags
	Module string `help:"Folder of the source of Overtake, from which the programs that are compared are built. Default: the current one." placeholder:"DIR"`
}

// Run runs the suite.
func (c *perfCostCmd) Run(e *env) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d, err := perfcost.Run(ctx, perfcost.Config{Config: c.config(e), Module: c.Module})
	return c.conclude(d, err)
}
