package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake/bench/perfcost"
	"github.com/overtake-stream/overtake/perf/ebpf"
)

type perfCostCmd struct {
	suiteFlags
	seededFlags
	Module string `help:"Folder of the source of Overtake, from which the programs that are compared are built. Default: the current one." placeholder:"DIR"`
}

// Validate is called by kong.
func (c *perfCostCmd) Validate() error {
	return errors.Join(c.suiteFlags.Validate(), mayPress(perfcost.Suite, c.pressure()))
}

// Run runs the suite.
func (c *perfCostCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	cfg := perfcost.Config{Config: c.config(e), Module: c.Module, Observe: observer(ctx, e), Traps: ebpf.TrapCosts}
	cfg.Pressure = c.pressure()
	d, err := perfcost.Run(ctx, cfg)
	return c.conclude(d, err)
}

// observer is the profiler of messages, nil if the kernel does not allow it.
func observer(ctx context.Context, e *env) perfcost.Observer {
	s, err := ebpf.Check(ctx)
	if err == nil && s.Tier != ebpf.TierA {
		err = fmt.Errorf("tier %v: %v", s.Tier, s.Refusals)
	}
	if err != nil {
		e.log.Warn("what an attached profiler costs is not measured", "error", err)
		return nil
	}
	return func(ctx context.Context, pid int, d time.Duration, attached func()) error {
		r, err := ebpf.Latency(ctx, []int{pid}, d, ebpf.LatencyOptions{OnAttached: attached})
		if err == nil && r.Matched == 0 {
			err = errors.New("the profiler has seen no message")
		}
		return err
	}
}
