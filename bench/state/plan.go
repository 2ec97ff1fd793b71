package state

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/perf"
)

// plan makes the cases of one size.
type plan struct {
	cfg    Config
	fleet  *fleet
	layout layout
	n      int64
	first  int64              // the smallest size of this layout
	shares map[string]float64 // of the first key, by operation; with skew
}

func newPlan(c Config, f *fleet, l layout, n, first int64) *plan {
	return &plan{cfg: c, fleet: f, layout: l, n: n, first: first, shares: map[string]float64{}}
}

// groups are all cases in the order in which they run.
func (c Config) groups(f *fleet) (list []group) {
	sizes := slices.Sorted(slices.Values(c.Sizes))
	for _, n := range sizes {
		list = append(list, newPlan(c, f, layout{8, 8}, n, sizes[0]).groups()...)
	}
	return append(list, newPlan(c, f, layout{16, 200}, c.Records, c.Records).groups()...)
}

func (p *plan) groups() []group {
	alive := func(kinds ...string) func(spec) bool {
		return func(s spec) bool {
			mine := s.N == p.n && s.Layout == p.layout
			return s.Kind == kindOurs && s.N == p.first && s.Layout == p.layout || mine && slices.Contains(kinds, s.Kind)
		}
	}
	all := []string{kindOurs, kindBuiltin, kindBtree, kindHAMT}
	pairs, few := p.cfg.Pairs, p.cfg.Pairs
	if p.n >= p.cfg.Large {
		pairs, few = 1, min(few, 2)
	}
	during := p.duringCase()
	return []group{
		{cases: p.loadCases(), pairs: pairs, alive: alive(kindOurs, kindBuiltin, kindNone)},
		{cases: p.sizeCases(), pairs: 1, alive: alive(kindOurs, kindBuiltin)},
		{cases: p.writeCases("write/as-loaded", true), pairs: pairs, alive: alive(kindOurs, kindBuiltin)},
		{cases: p.speedCases(), pairs: p.cfg.Pairs, alive: alive(all...), takes: pressure.Skew},
		{cases: during.cases, pairs: few, alive: alive(all...), after: during.after, takes: Takes},
		{cases: p.pauseCases(), pairs: p.cfg.Pairs, alive: alive(all...), takes: pressure.Skew},
		{cases: p.collectCases(), pairs: few, alive: alive(kindOurs, kindPointers)},
		{cases: append(p.writeCases("write", false), p.restoreCase()), pairs: few, alive: alive(kindOurs)},
		{cases: p.fileCases(), pairs: pairs, alive: alive(kindOurs), takes: pressure.SlowDisk},
		{cases: p.incrementCases(), pairs: pairs, alive: alive(kindOurs)},
		{cases: p.overlapCases(), pairs: 1, alive: alive(kindOurs)},
	}
}

// spec is that of a kind at this size.
func (p *plan) spec(kind string) spec { return spec{kind, p.layout, p.n, p.cfg.Pressure} }

func (p *plan) name(text string) string {
	return fmt.Sprintf("%s/%s/%s", p.layout, count(p.n), text)
}

// count writes a number of keys.
func count(n int64) string {
	switch {
	case n%1e6 == 0:
		return fmt.Sprintf("%dM", n/1e6)
	case n%1e3 == 0:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return fmt.Sprint(n)
}

func (p *plan) parameters(more map[string]any) map[string]any {
	m := map[string]any{"keys": p.n, "key_bytes": p.layout.Key, "value_bytes": p.layout.Value, "seed": p.cfg.Seed}
	for k, v := range more {
		m[k] = v
	}
	return m
}

// reduced is a count of operations, less in a quick run, and never so many that a
// small size repeats itself.
func (p *plan) reduced(n int64) int64 {
	if p.cfg.Quick {
		n /= 4
	}
	return max(1, min(n, 5*p.n))
}

// least is the least time of a measurement that is repeated, and snapshots how many are
// taken: both hardly any at sizes that tell nothing.
func (p *plan) least() time.Duration {
	if p.n < 100_000 {
		return time.Millisecond
	}
	return 100 * time.Millisecond
}

func (p *plan) snapshots() int64 {
	if p.n < 100_000 {
		return 100
	}
	return 2000
}

// measure asks a store; every run has a seed of its own, the same on all sides.
func (p *plan) measure(kind string, q request) bench.Measure {
	seed := p.cfg.Seed * 1000
	return func(ctx context.Context, _ bench.Size) (float64, error) {
		seed++
		q := q
		q.Seed, q.Least = seed, p.least()
		peer, err := p.fleet.get(ctx, p.spec(kind))
		if err != nil {
			return 0, err
		}
		r, err := peer.ask(q)
		if kind == kindOurs {
			p.shares[q.Op] = r.More[firstKey]
		}
		return r.Value, err
	}
}

// latencies is measure for latencies. What it returns makes one side of a case; all sides
// made by it show the same runs, with the time that a thread had no processor or without.
func (p *plan) latencies(kind string, q request) func(own bool) bench.Latency {
	seed := p.cfg.Seed * 1000
	return shared(func(ctx context.Context) (reply, error) {
		seed++
		q := q
		q.Seed = seed
		peer, err := p.fleet.get(ctx, p.spec(kind))
		if err != nil {
			return reply{}, err
		}
		return peer.ask(q)
	})
}

// shared returns sides that show the runs of one measurement.
func shared(run func(context.Context) (reply, error)) func(own bool) bench.Latency {
	var runs []reply
	return func(own bool) bench.Latency {
		next := 0
		return func(ctx context.Context, _ bench.Size, into *perf.Histogram) error {
			if next == len(runs) {
				r, err := run(ctx)
				if err != nil {
					return err
				}
				runs = append(runs, r)
			}
			runs[next].record(into, own)
			next++
			return nil
		}
	}
}

// baselines are those of the kinds that this size has, by f.
func (p *plan) baselines(f func(kind string) bench.Baseline, kinds ...string) (list []bench.Baseline) {
	for _, kind := range kinds {
		b := f(kind)
		b.Name = kind
		tree := kind == kindBtree || kind == kindHAMT
		switch {
		case tree && p.layout != layout{8, 8}:
			continue
		case tree && p.n > p.cfg.Trees:
			b.Skip = fmt.Sprintf("loading more than %s keys takes it minutes", count(p.cfg.Trees))
		}
		list = append(list, b)
	}
	return list
}

// constant is a latency baseline that is a given figure.
func constant(nanoseconds int64) bench.Latency {
	return func(_ context.Context, _ bench.Size, into *perf.Histogram) error {
		into.Record(nanoseconds)
		return nil
	}
}

// cold leaves out the warm-up of a measurement that begins from nothing.
func cold(f bench.Measure) bench.Measure {
	warm := false
	return func(ctx context.Context, s bench.Size) (float64, error) {
		if !warm {
			warm = true
			return 0, nil
		}
		return f(ctx, s)
	}
}
