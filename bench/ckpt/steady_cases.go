package ckpt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	squeeze "github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/perf"
)

// steadyGroups are the cases of suite checkpoint.
func (c Config) steadyGroups() (list []group) {
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto} {
		s := &steady{cfg: c, mode: mode}
		list = append(list, group{cases: s.cases(), after: s.annotate, close: s.close})
	}
	return list
}

// Baselines of the suites.
const (
	off     = "checkpoints off"
	limit   = "10 µs"
	changed = "keys and values that changed"
	whole   = "all state, as stored"
)

func (s *steady) cases() []bench.Case {
	p := s.parameters()
	rate := func(with bool) bench.Measure {
		return func(ctx context.Context, _ bench.Size) (float64, error) {
			sl, err := s.slice(ctx, with)
			return sl.rate, err
		}
	}
	cost := func(with bool) bench.Measure {
		next := s.replay(with)
		return func(ctx context.Context, _ bench.Size) (float64, error) {
			sl, err := next(ctx)
			return sl.cost, err
		}
	}
	name := func(text string) string { return s.mode.String() + "/" + text }
	return []bench.Case{{
		Name: name("throughput"), Parameters: p, Metric: "throughput", Unit: "records/s", Better: bench.Higher,
		Ours: rate(true), Baselines: []bench.Baseline{{Name: off, Run: rate(false)}}, Goal: &bench.Goal{Baseline: off, Ratio: 0.98},
	}, {
		Name: name("cpu"), Parameters: p, Metric: "cpu", Unit: "s/record", Better: bench.Lower,
		Ours: cost(true), Baselines: []bench.Baseline{{Name: off, Run: cost(false)}},
	}, {
		Name: name("pause/p99.9"), Parameters: p, Metric: "latency", Unit: "s", Better: bench.Lower, Quantile: 0.999,
		Latency:   s.latencies(func(c overtake.CheckpointStats) time.Duration { return c.Pause }),
		Baselines: []bench.Baseline{{Name: limit, Latency: constant(10 * time.Microsecond)}}, Goal: &bench.Goal{Baseline: limit, Ratio: 1},
	}, {
		Name: name("duration/p50"), Parameters: p, Metric: "latency", Unit: "s", Better: bench.Lower,
		Latency: s.latencies(func(c overtake.CheckpointStats) time.Duration { return c.Duration }),
	}, {
		Name: name("bytes"), Parameters: p, Metric: "memory", Unit: "B", Better: bench.Lower,
		Ours: s.typical(func(c overtake.CheckpointStats) int64 { return c.Bytes }),
		Baselines: []bench.Baseline{
			{Name: changed, Run: bench.Constant(float64(s.cfg.window() * entryBytes)), Skip: s.uneven()},
			{Name: whole, Run: s.typical(func(c overtake.CheckpointStats) int64 { return c.FullBytes })},
		},
	}}
}

func (s *steady) parameters() map[string]any {
	return map[string]any{
		"mode": s.mode.String(), "state_bytes": s.cfg.State, "keys": s.cfg.keys(), "entry_bytes": entryBytes, "parallelism": s.cfg.Parallelism,
		"interval_seconds": s.cfg.Interval.Seconds(), "changing_keys": s.cfg.window(), "slice_seconds": s.cfg.Slice.Seconds(),
		"store": "directory, synced",
	}
}

// uneven says why it is not known how many keys change in an interval; empty: it is.
func (s *steady) uneven() string {
	if k := s.cfg.Pressure.Kinds() & (squeeze.Skew | squeeze.SlowSink | squeeze.Stall); k != 0 {
		return fmt.Sprintf("under pressure (%v) fewer keys of the window change", k)
	}
	return ""
}

// latencies records a time of each checkpoint in a slice.
func (s *steady) latencies(f func(overtake.CheckpointStats) time.Duration) bench.Latency {
	next := s.replay(true)
	return func(ctx context.Context, _ bench.Size, into *perf.Histogram) error {
		sl, err := next(ctx)
		for _, c := range sl.taken {
			into.Record(int64(f(c)))
		}
		return err
	}
}

// typical is the median of a figure of the checkpoints in a slice.
func (s *steady) typical(f func(overtake.CheckpointStats) int64) bench.Measure {
	next := s.replay(true)
	return func(ctx context.Context, _ bench.Size) (float64, error) {
		sl, err := next(ctx)
		return median(sl.taken, f), err
	}
}

func median(list []overtake.CheckpointStats, f func(overtake.CheckpointStats) int64) float64 {
	var figures []int64
	for _, c := range list {
		figures = append(figures, f(c))
	}
	if len(figures) == 0 {
		return 0
	}
	slices.Sort(figures)
	return float64(figures[len(figures)/2])
}

// annotate adds what all slices together have.
func (s *steady) annotate(results []bench.Result) {
	var taken []overtake.CheckpointStats
	for _, sl := range s.slices {
		taken = append(taken, sl.taken...)
	}
	var most, total int64
	for _, c := range taken {
		most, total = max(most, c.Bytes), total+c.Bytes
	}
	more := map[string]any{
		"checkpoints": len(taken), "first_checkpoint_bytes": s.first.Bytes, "first_checkpoint_seconds": s.first.Duration.Seconds(),
		"largest_checkpoint_bytes": most, "all_checkpoints_bytes": total,
	}
	for _, r := range results {
		maps.Copy(r.Parameters, more)
	}
}

// constant is a latency baseline that is a given figure.
func constant(d time.Duration) bench.Latency {
	return func(_ context.Context, _ bench.Size, into *perf.Histogram) error {
		into.Record(int64(d))
		return nil
	}
}
