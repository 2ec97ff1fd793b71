//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"fmt"
	"os"

	"github.com/overtake-stream/overtake/perf/probe"
)

// Check finds the tier by loading the programs, and measures what each probe costs on
// this machine: in this process, whose gate is open meanwhile, for some 50 ms.
func Check(ctx context.Context) (*Support, error) {
	s := &Support{Kernel: kernelRelease(), Costs: []Cost{gateCost(), clockCost()}}
	k, err := loadKernel(LatencyOptions{})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	defer k.close()
	s.Tier, s.Refusals = k.tier, k.refusals
	trap := Cost{Probe: "uprobe with its program", When: "twice per sampled message"}
	edges := Cost{Probe: "kernel tracepoints", When: "per write and its read, on connections that are followed"}
	if s.Tier == TierC {
		trap.NA, edges.NA = s.Refusals[0].Reason, s.Refusals[0].Reason
	} else {
		s.measureTrap(k, &trap)
	}
	switch {
	case s.Tier == TierB:
		edges.NA = s.Refusals[0].Reason
	case s.Tier == TierA:
		s.measureEdges(k, &edges)
	}
	s.Costs = append(s.Costs, trap, edges)
	return s, ctx.Err()
}

func (s *Support) measureTrap(k *kernel, c *Cost) {
	ns, err := k.trapCost()
	if err != nil {
		r := refusal("uprobes", losesAll, err)
		s.Refusals, s.Tier, c.NA = append(s.Refusals, r), TierC, r.Reason
		return
	}
	c.Each = ns
}

// trapCost is the time of a trap in this process, ns.
func (k *kernel) trapCost() (float64, error) {
	defer k.detach()
	if err := k.attachProgram(os.Getpid(), probe.Every1024); err != nil {
		return 0, err
	}
	m := probe.Message{}
	return each(300, func() { probe.WriteBegin(&m) }), nil
}

func (s *Support) measureEdges(k *kernel, c *Cost) {
	before, err := pingCost(nil)
	if err == nil {
		var after float64
		after, err = pingCost(k)
		c.add(before, after)
	}
	if err != nil {
		r := refusal("kernel tracepoints (tp_btf)", losesKernel, err)
		s.Refusals, s.Tier, c.NA = append(s.Refusals, r), TierB, r.Reason
	}
	k.detach()
}

// add takes what something costs without and with the probe. What disturbs the measurement
// may be more than the probe.
func (c *Cost) add(without, with float64) {
	if c.Each = with - without; c.Each <= 0 {
		c.Each, c.NA = 0, "less than what else runs on this machine hides: try again when it is quiet"
	}
}

func gateCost() Cost {
	open := 0
	ns := each(100000, func() {
		for range 10 {
			if probe.Attached() {
				open++
			}
		}
	})
	return Cost{Probe: "gate", When: "at each of 6 places per message, while nobody is attached", Each: ns / 10}
}

func clockCost() Cost {
	return Cost{Probe: "clock", When: "6 times per sampled message", Each: each(1000, func() { probe.Now() })}
}

// each is the least time of a call, ns, of some rounds: others use the machine too.
func each(calls int, f func()) float64 {
	least := int64(1<<63 - 1)
	for range 9 {
		began := probe.Now()
		for range calls {
			f()
		}
		least = min(least, probe.Now()-began)
	}
	return float64(least) / float64(calls)
}
