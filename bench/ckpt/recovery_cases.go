package ckpt

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// Baselines of suite recovery.
const (
	perGigabyte = "2 s for each GB"
	reading     = "reading the files"
	allCores    = "2 s for each GB, of all cores"
)

// recoveryGroups are the cases of suite recovery.
func (c Config) recoveryGroups() (list []group) {
	for _, k := range []*killed{{process: true}, {process: true, links: 15}, {}} {
		k.cfg = c
		list = append(list, group{cases: k.cases(), after: k.annotate, close: k.close})
	}
	return list
}

func (k *killed) cases() []bench.Case {
	how := "cancel"
	if k.process {
		how = "kill-9"
	}
	name := fmt.Sprintf("%s/%d-increments", how, k.links)
	parameters := map[string]any{
		"state_bytes": k.cfg.State, "keys": k.cfg.keys(), "entry_bytes": entryBytes, "parallelism": k.cfg.Parallelism, "increments": k.links,
		"changing_keys": k.cfg.window(), "store": "directory, synced", "page_cache": "warm",
	}
	limit := 2 * float64(k.cfg.State) / 1e9
	times := func(ctx context.Context, _ bench.Size) (float64, error) {
		d, err := k.recover(ctx)
		return d.Seconds(), err
	}
	replay := func(of func(i int) float64) bench.Measure {
		next := 0
		return func(ctx context.Context, _ bench.Size) (float64, error) {
			if next == len(k.times) {
				if _, err := k.recover(ctx); err != nil {
					return 0, err
				}
			}
			next++
			return of(next - 1), nil
		}
	}
	return []bench.Case{{
		Name: name, Parameters: parameters, Metric: "time", Unit: "s", Better: bench.Lower, Ours: times,
		Baselines: []bench.Baseline{{Name: perGigabyte, Run: bench.Constant(limit)}, {Name: reading, Run: k.read}},
		Goal:      &bench.Goal{Baseline: perGigabyte, Ratio: 1},
	}, {
		Name: name + "/rate", Parameters: parameters, Metric: "throughput", Unit: "B/s", Better: bench.Higher,
		Ours: replay(func(i int) float64 { return float64(k.cfg.State) / k.times[i].Seconds() }),
	}, {
		Name: name + "/cpu", Parameters: parameters, Metric: "cpu", Unit: "s", Better: bench.Lower,
		Ours:      replay(func(i int) float64 { return k.used[i].Seconds() }),
		Baselines: []bench.Baseline{{Name: allCores, Run: bench.Constant(limit * float64(runtime.GOMAXPROCS(0)))}},
	}}
}

// annotate adds what all recoveries together have.
func (k *killed) annotate(results []bench.Result) {
	if len(k.times) == 0 {
		return
	}
	typical := func(list []time.Duration) float64 {
		if len(list) == 0 {
			return 0
		}
		return slices.Sorted(slices.Values(list))[len(list)/2].Seconds()
	}
	for _, r := range results {
		r.Parameters["recoveries"] = len(k.times)
		r.Parameters["entries_per_second"] = float64(k.cfg.keys()) / typical(k.times)
		r.Parameters["since_process_start_seconds"] = typical(k.begun)
	}
}
