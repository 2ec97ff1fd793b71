package operators

import (
	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/operators"
)

// byHand is the baseline of most flows.
const byHand = "goroutines and channels of batches"

// total is what a keyed flow passes on for each record.
type total = overtake.Pair[uint64, uint64]

// totals is a running total by key, each change of which goes on.
func totals(name string, count int64, keys drawn, parameters map[string]any) flow {
	return flow{
		name: name, count: count, parameters: parameters,
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			byKey := overtake.KeyBy(source(job, keys, n), func(e Event) uint64 { return e.Key })
			s := overtake.Aggregate(byKey, overtake.Aggregator[Event, uint64, uint64]{
				Add:    func(sum *uint64, e Event) { *sum += e.Value },
				Result: func(sum *uint64) uint64 { return *sum },
			}, overtake.WithUID("total"))
			return into(c, s, func(t total) uint64 { return t.Value })
		},
		plain: func(n uint64) (sum uint64) {
			sums := map[uint64]uint64{}
			for i := range n {
				e := keys.event(i)
				sums[e.Key] += e.Value
				sum += sums[e.Key]
			}
			return sum
		},
		hands: []hand{{byHand + ", and maps", 1, func(width int, n uint64) uint64 { return totalsByHand(keys, width, n) }}},
	}
}

func totalsByHand(keys drawn, width int, n uint64) uint64 {
	l := newLanes(width, width)
	team(width, func(worker int) uint64 {
		out := l.sender()
		for i := uint64(worker); i < n; i += uint64(width) {
			e := keys.event(i)
			out.send(operators.KeyGroup(operators.HashInt(e.Key), width), e)
		}
		out.finish()
		return 0
	})
	return team(width, func(worker int) (sum uint64) {
		sums := map[uint64]uint64{}
		for b := range l.full[worker] {
			for i := range b {
				t := sums[b[i].Key] + b[i].Value
				sums[b[i].Key] = t
				sum += t
			}
			l.free[worker] <- b[:0]
		}
		return sum
	})()
}

// keyedFlows are running totals by key.
func keyedFlows(c Config) []flow {
	const few, many, count = 10, 100_000, 20_000_000
	one := func(name string, keys uint64, drawn drawn, more map[string]any) flow {
		more["keys"] = keys
		return totals("keyBy/"+name, count, drawn, more)
	}
	list := []flow{
		one("10-keys", few, c.Pressure.Keys(few, uniform(few)), map[string]any{}),
		one("100k-keys", many, c.Pressure.Keys(many, uniform(many)), map[string]any{}),
	}
	if c.Pressure.Skew == 0 {
		list = append(list, one("skewed", many, skewed(many, zipf, c.Seed), map[string]any{"zipf_exponent": zipf}))
	}
	return list
}

// zipf is the exponent of the skewed flow: a sixth of all records then have the first key.
const zipf = 1.2
