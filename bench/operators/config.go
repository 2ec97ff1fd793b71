package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Suite is the name of the suite.
const Suite = "operators"

// Config says how to run the suite. The zero value means the defaults.
type Config struct {
	bench.Config

	Parallelism int    // of jobs and of the work by hand; default 2
	Seed        uint64 // of the skewed keys; default 1
}

// Takes are the kinds of pressure that the jobs can be put under; the baseline is then the
// same job without it. There are no checkpoints for a slow disk.
const Takes = pressure.SlowSink | pressure.Skew | pressure.Stall | pressure.Starve

func (c Config) withDefaults() Config {
	c.Parallelism, c.Seed = cmp.Or(c.Parallelism, 2), cmp.Or(c.Seed, 1)
	return c
}

// Validate reports all that is wrong with the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Parallelism < 0 || c.Parallelism > 64 {
		errs = append(errs, fmt.Errorf("operators: Parallelism is %d: set 1 to 64", c.Parallelism))
	}
	return errors.Join(append(errs, c.Pressure.Check(Suite, Takes))...)
}

// Run runs the suite. An error of any measurement ends it.
func Run(ctx context.Context, cfg Config) (*bench.Document, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return bench.Run(ctx, cfg.Config, Suite, cfg.withDefaults().Cases())
}

// Cases are those of the suite.
func (c Config) Cases() (list []bench.Case) {
	c = c.withDefaults()
	var flows []flow
	if c.Pressure.Skew == 0 { // what is not keyed cannot be skewed
		flows = append(chains(), shuffles()...)
	}
	for _, f := range append(flows, keyedFlows(c)...) {
		list = append(list, c.cases(f)...)
	}
	return list
}

// options are those of every job.
func (c Config) options() overtake.Options {
	return c.Pressure.Options(overtake.Options{Parallelism: c.Parallelism})
}

// cases are the figures of one flow.
func (c Config) cases(f flow) []bench.Case {
	if c.Pressure.SlowSink > 0 { // a second of work is enough
		records := int64(time.Second/c.Pressure.SlowSink) * int64(c.Parallelism)
		f.count = min(f.count, max(1000, 10*records))
	}
	sides, names := []*side{f.ours(c)}, []string{}
	if c.Pressure.Active() {
		without := c
		without.Pressure = pressure.Config{}
		sides, names = append(sides, f.ours(without)), append(names, "no pressure")
	} else {
		for _, h := range f.hands {
			sides, names = append(sides, f.by(h, c.Parallelism)), append(names, h.name)
		}
	}
	parameters := map[string]any{"parallelism": c.Parallelism, "record": 32, "records": f.count}
	maps.Copy(parameters, f.parameters)
	figure := func(name, metric, unit, better string, of func(trial) float64) bench.Case {
		k := bench.Case{Name: f.name + name, Parameters: parameters, Metric: metric, Unit: unit, Better: better, Ours: sides[0].figure(of)}
		for i, name := range names {
			k.Baselines = append(k.Baselines, bench.Baseline{Name: name, Run: sides[1+i].figure(of)})
		}
		return k
	}
	rate := figure("", "throughput", "records/s", bench.Higher, func(t trial) float64 { return t.rate })
	cost := figure("/cpu", "cpu", "records/CPU-s", bench.Higher, func(t trial) float64 { return t.perCPU })
	heap := figure("/allocations", "allocations", "", bench.Lower, func(t trial) float64 { return t.allocated })
	heap.Baselines = []bench.Baseline{{Name: "none", Run: bench.Constant(0)}}
	heap.Goal = &bench.Goal{Baseline: "none", Ratio: 1}
	rate.Goal = f.goal
	return []bench.Case{rate, cost, heap}
}
