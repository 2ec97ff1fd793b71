package state

import (
	"context"
	"maps"

	"github.com/overtake-stream/overtake/bench"
)

// duringCase updates while a snapshot is open and written, and compares with what each
// part of that costs alone.
func (p *plan) duringCase() (g group) {
	var last reply // of ours: the windows and the rate to repeat
	seed := p.cfg.Seed * 2000
	beside := func(what string) bench.Measure {
		mine := seed
		return func(ctx context.Context, _ bench.Size) (float64, error) {
			mine++
			q := request{Op: "beside", Seed: mine, Beside: what, Least: p.least()}
			if what != besideWrite {
				q.Window, q.Count, q.Rate = int64(max(1, last.More["window"])), int64(max(1, last.More["rounds"])), last.More["bytes_per_second"]
			}
			peer, err := p.fleet.get(ctx, p.spec(kindOurs))
			if err != nil {
				return 0, err
			}
			r, err := peer.ask(q)
			if what == besideWrite {
				last = r
			}
			return r.Value, err
		}
	}
	const alone, opened, copied, summed = "itself, no snapshot", "itself, a snapshot open", "itself, memory copied beside", "itself, checksums beside"
	c := bench.Case{
		Name: p.name("update/while-written"), Metric: "throughput", Unit: "op/s", Better: bench.Higher, Parameters: p.parameters(nil),
		Ours: beside(besideWrite),
		Baselines: []bench.Baseline{
			{Name: alone, Run: beside(besideNothing)}, {Name: opened, Run: beside(besideOpen)},
			{Name: copied, Run: beside(besideCopy)}, {Name: summed, Run: beside(besideChecksum)},
		},
		Goal: &bench.Goal{Baseline: alone, Ratio: 0.7},
	}
	g.cases = []bench.Case{c}
	g.after = func(results []bench.Result) {
		for i := range results {
			r := &results[i]
			maps.Copy(r.Parameters, map[string]any{
				"updates_in_a_window": last.More["window"], "windows": last.More["rounds"], "written_bytes_per_second": last.More["bytes_per_second"],
			})
			// Time beyond what the updates take alone, and how much of it each part explains.
			cost := func(v float64) float64 { return 1/v - 1/r.Baselines[0].Median }
			if loss := cost(r.Ours.Median); loss > 0 {
				r.Parameters["share_of_copying_entries"] = cost(r.Baselines[1].Median) / loss
				r.Parameters["share_of_memory_bandwidth"] = cost(r.Baselines[2].Median) / loss
				r.Parameters["share_of_busy_second_core"] = cost(r.Baselines[3].Median) / loss
			}
		}
	}
	return g
}

// writeCases write a full snapshot. Once keys were updated at random, what is live lies
// in shorter runs than when it was loaded.
func (p *plan) writeCases(name string, settle bool) []bench.Case {
	const memory = "memory to memory"
	return []bench.Case{{
		Name: p.name(name), Metric: "throughput", Unit: "B/s", Better: bench.Higher, Parameters: p.parameters(nil),
		Ours: p.measure(kindOurs, request{Op: "write", Settle: settle}),
		Baselines: []bench.Baseline{
			{Name: memory, Run: p.measure(kindOurs, request{Op: "copy"})},
			{Name: "memory to a small buffer", Run: p.measure(kindOurs, request{Op: "copy", Keep: 1})},
		},
		Goal: &bench.Goal{Baseline: memory, Ratio: 0.7},
	}}
}

// restoreCase restores a full snapshot.
func (p *plan) restoreCase() bench.Case {
	const target = "5 M entries/s"
	return bench.Case{
		Name: p.name("restore"), Metric: "throughput", Unit: "entries/s", Better: bench.Higher, Parameters: p.parameters(map[string]any{"cores": 1}),
		Ours:      p.measure(kindOurs, request{Op: "restore"}),
		Baselines: []bench.Baseline{{Name: target, Run: bench.Constant(5e6)}},
		Goal:      &bench.Goal{Baseline: target, Ratio: 1},
	}
}

// fileCases write a full snapshot to a file.
func (p *plan) fileCases() []bench.Case {
	const fill = "the same bytes from a buffer"
	size := p.n*p.layout.entry() + p.n*p.layout.entry()/4096
	return []bench.Case{{
		Name: p.name("write/file"), Metric: "throughput", Unit: "B/s", Better: bench.Higher,
		Parameters: p.parameters(map[string]any{"fsync": true}),
		Ours:       cold(p.measure(kindOurs, request{Op: "write-file", Path: p.cfg.Folder})),
		Baselines:  []bench.Baseline{{Name: fill, Run: cold(p.measure(kindOurs, request{Op: "fill-file", Path: p.cfg.Folder, Bytes: size}))}},
		Goal:       &bench.Goal{Baseline: fill, Ratio: 0.7},
	}}
}

// incrementCases write what changed since a base.
func (p *plan) incrementCases() []bench.Case {
	const entries, limit = "bytes of the changed entries", "1 KiB"
	var last reply
	changed := func(ctx context.Context, s bench.Size) (float64, error) {
		peer, err := p.fleet.get(ctx, p.spec(kindOurs))
		if err != nil {
			return 0, err
		}
		p.cfg.Seed++ // changes others this time
		last, err = peer.ask(request{Op: "increment", Count: 20, Seed: p.cfg.Seed})
		return last.More["bytes"], err
	}
	of := func(f func() float64) bench.Measure {
		return cold(func(context.Context, bench.Size) (float64, error) { return f(), nil })
	}
	return []bench.Case{{
		Name: p.name("increment/5%-changed"), Metric: "size", Unit: "B", Better: bench.Lower, Parameters: p.parameters(nil),
		Ours:      cold(changed),
		Baselines: []bench.Baseline{{Name: entries, Run: of(func() float64 { return last.More["bytes"] / last.Value })}},
		Goal:      &bench.Goal{Baseline: entries, Ratio: 1.3},
	}, {
		Name: p.name("increment/unchanged"), Metric: "size", Unit: "B", Better: bench.Lower, Parameters: p.parameters(nil),
		Ours: cold(func(ctx context.Context, s bench.Size) (float64, error) {
			if last.More == nil { // the case above was left out
				if _, err := changed(ctx, s); err != nil {
					return 0, err
				}
			}
			return last.More["none"], nil
		}),
		Baselines: []bench.Baseline{{Name: limit, Run: bench.Constant(1024)}},
		Goal:      &bench.Goal{Baseline: limit, Ratio: 1},
	}}
}

// overlapCases are about what the log keeps while some snapshot is always open.
func (p *plan) overlapCases() []bench.Case {
	if p.n >= p.cfg.Large {
		return nil
	}
	of := func(keep int) bench.Measure {
		return cold(p.measure(kindOurs, request{Op: "overlap", Count: 20, Keep: keep}))
	}
	return []bench.Case{{
		Name: p.name("memory/overlapping-snapshots"), Metric: "memory", Unit: "B", Better: bench.Lower,
		Parameters: p.parameters(map[string]any{"snapshots": 20, "updates_between": p.n / 10, "per": "key"}),
		Ours:       of(1),
		Baselines:  []bench.Baseline{{Name: "snapshots one after the other", Run: of(0)}},
	}}
}
