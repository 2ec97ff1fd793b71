package state

import (
	"context"

	"github.com/overtake-stream/overtake/bench"
)

// processor is at the end of the name of a case that leaves out the time in which a
// thread had no processor.
const processor = "/processor-time"

// loadCases put all keys into an empty store.
func (p *plan) loadCases() (list []bench.Case) {
	load := func(kind string) func(own bool) bench.Latency {
		warm := false
		return shared(func(ctx context.Context) (reply, error) {
			if !warm { // every run begins from nothing
				warm = true
				return reply{Counts: [][2]int64{{0, 1}}, Own: [][2]int64{{0, 1}}}, nil
			}
			peer, err := p.fleet.fresh(ctx, p.spec(kind))
			if err != nil {
				return reply{}, err
			}
			loaded := peer.loaded
			peer.loaded.Counts, peer.loaded.Own = nil, nil
			return loaded, nil
		})
	}
	ours, builtin, none := load(kindOurs), load(kindBuiltin), load(kindNone)
	for _, quantile := range []struct {
		name string
		of   float64
	}{{"load/p99.99", 0.9999}, {"load/max", 1}} {
		for _, own := range []bool{false, true} {
			name := quantile.name
			if own {
				name += processor
			}
			list = append(list, bench.Case{
				Name: p.name(name), Metric: "latency", Unit: "s", Better: bench.Lower,
				Parameters: p.parameters(map[string]any{"quantile": quantile.of, "clock_included": true}),
				Latency:    ours(own), Quantile: quantile.of,
				Baselines: []bench.Baseline{{Name: kindBuiltin, Latency: builtin(own)}, {Name: kindNone, Latency: none(own)}},
			})
		}
	}
	return list
}

// sizeCases are about what loading left, and about the first updates.
func (p *plan) sizeCases() []bench.Case {
	parameters := p.parameters(map[string]any{"loaded": "from 1 key on, with no size given ahead"})
	of := func(kind, figure string) bench.Measure {
		return cold(func(ctx context.Context, _ bench.Size) (float64, error) {
			peer, err := p.fleet.get(ctx, p.spec(kind))
			if err != nil {
				return 0, err
			}
			return peer.loaded.More[figure], nil
		})
	}
	const heap = "builtin map, live heap"
	return []bench.Case{{
		Name: p.name("bytes-per-key"), Metric: "memory", Unit: "B", Better: bench.Lower, Parameters: parameters,
		Ours: of(kindOurs, "resident_bytes_per_key"),
		Baselines: []bench.Baseline{
			{Name: heap, Run: of(kindBuiltin, "heap_bytes_per_key")},
			{Name: "builtin map, resident", Run: of(kindBuiltin, "resident_bytes_per_key")},
			{Name: "what statecow accounts for", Run: of(kindOurs, "arena_bytes_per_key")},
		},
		Goal: &bench.Goal{Baseline: heap, Ratio: 1.2},
	}, {
		Name: p.name("allocations-per-update"), Metric: "allocations", Unit: "", Better: bench.Lower, Parameters: p.parameters(nil),
		Ours:      p.measure(kindOurs, request{Op: "allocations", Count: p.reduced(2e6)}),
		Baselines: []bench.Baseline{{Name: "none", Run: bench.Constant(0)}},
		Goal:      &bench.Goal{Baseline: "none", Ratio: 1},
	}}
}

// speedCases read and update random keys, with no snapshot open or taken.
func (p *plan) speedCases() []bench.Case {
	run := func(op string) func(kind string) bench.Baseline {
		return func(kind string) bench.Baseline {
			n := p.reduced(4e6)
			if kind == kindBtree || kind == kindHAMT {
				n = max(1, n/8)
			}
			return bench.Baseline{Run: p.measure(kind, request{Op: op, Count: n})}
		}
	}
	others := []string{kindBuiltin, kindBtree, kindHAMT}
	if p.layout.Value > 128 { // the builtin map then has values behind pointers, too
		others = append(others, kindPointers)
	}
	one := func(name, op, base string) bench.Case {
		return bench.Case{
			Name: p.name(name), Metric: "throughput", Unit: "op/s", Better: bench.Higher,
			Parameters: p.parameters(map[string]any{"operations": p.reduced(4e6)}),
			Ours:       run(op)(kindOurs).Run, Baselines: p.baselines(run(base), others...),
			Annotate: func(parameters map[string]any) {
				if p.cfg.Pressure.Skew > 0 && op != "get" {
					parameters[firstKey] = p.shares[op]
				}
			},
		}
	}
	update := one("update", "update", "update")
	if p.n >= 10e6 {
		update.Goal = &bench.Goal{Baseline: kindBuiltin, Ratio: 1}
	}
	ahead := one("update/64-ahead", "prefetched", "update")
	ahead.Baselines = ahead.Baselines[:1]
	return []bench.Case{update, ahead, one("get", "get", "get")}
}

// between is how many updates lie between two snapshots. A hash trie has fewer, which
// take it as long.
const between, fewBetween = 1000, 20

// pauseCases are about snapshots of a store that is updated, and about the updates after them.
func (p *plan) pauseCases() []bench.Case {
	return append(p.snapshotCases(), p.afterCases()...)
}

func (p *plan) snapshotCases() (list []bench.Case) {
	const limit, floor, smallest = "10 µs", "no snapshot", "smallest size"
	pause := func(kind string, keep int) func(own bool) bench.Latency {
		q := request{Op: "pause", Count: p.snapshots(), Keep: keep, Confirm: true, Window: between}
		if kind == kindBuiltin {
			q.Count = 1
		}
		if kind == kindHAMT || kind == kindBtree {
			q.Window = fewBetween
		}
		return p.latencies(kind, q)
	}
	one := func(name string, quantile float64, keep int, ours bench.Latency) bench.Case {
		return bench.Case{
			Name: p.name(name), Metric: "latency", Unit: "s", Better: bench.Lower, Quantile: quantile, Latency: ours,
			Parameters: p.parameters(map[string]any{"quantile": quantile, "snapshots": p.snapshots(), "updates_between": between, "open": keep}),
		}
	}
	goal, none := bench.Baseline{Name: limit, Latency: constant(10_000)}, pause(kindOurs, -1)
	var alone func(own bool) bench.Latency
	for _, c := range []struct {
		name string
		keep int
	}{{"snapshot/p99.9", 0}, {"snapshot/8-open/p99.9", 8}} {
		ours := pause(kindOurs, c.keep)
		wall, own := one(c.name, 0.999, c.keep, ours(false)), one(c.name+processor, 0.999, c.keep, ours(true))
		wall.Baselines = []bench.Baseline{goal, {Name: floor, Latency: none(false)}}
		own.Baselines = []bench.Baseline{goal, {Name: floor, Latency: none(true)}}
		wall.Goal, own.Goal = &bench.Goal{Baseline: limit, Ratio: 1}, &bench.Goal{Baseline: limit, Ratio: 1}
		if c.keep == 0 {
			alone = ours
			of := func(kind string) bench.Baseline { return bench.Baseline{Latency: pause(kind, 0)(false)} }
			wall.Baselines = append(wall.Baselines, p.baselines(of, kindBuiltin, kindBtree, kindHAMT)...)
		}
		list = append(list, wall, own)
	}
	if p.n > p.first {
		small := *p
		small.n = p.first
		growth := one("snapshot/p50", 0.5, 0, alone(false))
		few := small.latencies(kindOurs, request{Op: "pause", Count: p.snapshots(), Confirm: true, Window: between})
		growth.Baselines = []bench.Baseline{{Name: smallest, Latency: few(false)}}
		growth.Goal = &bench.Goal{Baseline: smallest, Ratio: 1.2}
		list = append(list, growth)
	}
	return list
}

// afterCases update right after a snapshot, which is open.
func (p *plan) afterCases() []bench.Case {
	after := func(kind string) bench.Baseline {
		n := min(1e6, p.n/10)
		if kind == kindBtree || kind == kindHAMT {
			n /= 4
		}
		return bench.Baseline{Run: p.measure(kind, request{Op: "after", Count: max(1, n)})}
	}
	others := p.baselines(after, kindBuiltin, kindBtree, kindHAMT)
	if p.n >= p.cfg.Large {
		others[0].Skip = "it only copies, for seconds: see update"
	}
	plain := bench.Baseline{Name: "itself, the same keys again", Run: p.measure(kindOurs, request{Op: "update", Count: max(1, min(1e6, p.n/10))})}
	others = append([]bench.Baseline{plain}, others...)
	afterwards := bench.Case{
		Name: p.name("update/after-snapshot"), Metric: "throughput", Unit: "op/s", Better: bench.Higher,
		Parameters: p.parameters(map[string]any{"operations": min(1e6, p.n/10)}),
		Ours:       after(kindOurs).Run, Baselines: others,
	}
	ahead := afterwards
	ahead.Name += "/64-ahead"
	ahead.Ours = p.measure(kindOurs, request{Op: "after", Count: max(1, min(1e6, p.n/10)), Ahead: true})
	ahead.Baselines = []bench.Baseline{{Name: "itself, one key at a time", Run: after(kindOurs).Run}}
	return []bench.Case{afterwards, ahead}
}

// collectCases collect all garbage with the store live.
func (p *plan) collectCases() []bench.Case {
	return []bench.Case{{
		Name: p.name("full-collection"), Metric: "time", Unit: "s", Better: bench.Lower, Parameters: p.parameters(nil),
		Ours:      p.measure(kindOurs, request{Op: "gc"}),
		Baselines: []bench.Baseline{{Name: kindPointers, Run: p.measure(kindPointers, request{Op: "gc"})}},
		Goal:      &bench.Goal{Baseline: kindPointers, Ratio: 0.05},
	}}
}
