package nexmark

import (
	"context"
	"fmt"
	"strings"

	"github.com/overtake-stream/overtake/bench"
)

// byHand is the baseline.
const byHand = "hand-written loop"

// Run runs the suite. An error of any measurement ends it; the document then has what was
// measured before.
func Run(ctx context.Context, cfg Config) (*bench.Document, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	queries, err := Find(cfg.Queries)
	if err != nil {
		return nil, err
	}
	var d *bench.Document
	for _, q := range queries {
		part, err := cfg.runQuery(ctx, q)
		d = d.Join(part)
		if err != nil {
			return d, err
		}
	}
	if d == nil {
		return d, fmt.Errorf("nexmark: no case has %q in its name", cfg.Filter)
	}
	return d, nil
}

// runQuery measures one query. Without a case that is wanted it returns nil.
func (c Config) runQuery(ctx context.Context, q Query) (*bench.Document, error) {
	s := &subject{cfg: c, query: q}
	if !bench.Wanted(s.cases(), c.Filter) {
		return nil, nil
	}
	var err error
	if s.gen, err = c.Generator(); err != nil {
		return nil, err
	}
	size := bench.Size(1)
	if c.Quick {
		size = 10
	}
	d, err := bench.Run(ctx, bench.Config{Pairs: c.Pairs, Quick: c.Quick, Size: size, Filter: c.Filter, Progress: c.Progress, Pressure: c.Pressure}, Suite, s.cases())
	if d != nil {
		s.annotate(d.Cases)
	}
	return d, err
}

func (s *subject) parameters() map[string]any {
	c := s.cfg
	mode := c.Mode.String()
	if c.NoCheckpoints {
		mode = "off"
	}
	o := c.options(c.Events).withDefaults()
	return map[string]any{
		"query": s.query.Name, "about": s.query.About, "events": c.Events, "events_per_second_of_event_time": o.Rate, "group": o.Group, "seed": o.Seed,
		"parallelism": c.Parallelism, "checkpoints": mode, "checkpoint_interval_seconds": c.Interval.Seconds(),
	}
}

func (s *subject) cases() []bench.Case {
	name := func(text string) string { return s.query.Name + "/" + text }
	both := func(of func(run) float64) (bench.Measure, []bench.Baseline) {
		return s.ours.figure(of, s.engine), []bench.Baseline{{Name: byHand, Run: s.loops.figure(of, s.loop)}}
	}
	rate, rates := both(func(r run) float64 { return r.rate })
	core, cores := both(func(r run) float64 { return r.perCore })
	memory, memories := both(func(r run) float64 { return r.resident })
	return []bench.Case{
		{Name: name("throughput"), Parameters: s.parameters(), Metric: "throughput", Unit: "events/s", Better: bench.Higher, Ours: rate, Baselines: rates},
		{Name: name("per-core"), Parameters: s.parameters(), Metric: "throughput of a second of processor time", Unit: "events/s", Better: bench.Higher, Ours: core,
			Baselines: append(cores, bench.Baseline{Name: "Flink", Skip: "it is not part of this suite: see bench peers"})},
		{Name: name("memory"), Parameters: s.parameters(), Metric: "memory", Unit: "B", Better: bench.Lower, Ours: memory, Baselines: memories},
		{Name: name("latency"), Parameters: s.parameters(), Metric: "latency", Unit: "s", Better: bench.Lower, Latency: s.latency},
	}
}

// annotate adds what is known after the measurements.
func (s *subject) annotate(results []bench.Result) {
	for _, r := range results {
		if strings.HasSuffix(r.Name, "/latency") { // which has events of its own
			r.Parameters["events"], r.Parameters["rate_events_per_second"] = s.paced, s.pace
			r.Parameters["warm_up_seconds"], r.Parameters["result_rows"] = s.cfg.warmUp().Seconds(), s.pacedWant.Rows
			continue
		}
		r.Parameters["arena_bytes"], r.Parameters["result_rows"] = s.arena, s.want.Rows
	}
}
