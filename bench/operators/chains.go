package operators

import "github.com/overtake-stream/overtake"

const (
	fusedMaps   = 8
	unfusedMaps = 4
	wide        = 1 << 20 // keys where they do not matter
)

// chains are flows whose records go straight on.
func chains() []flow {
	return []flow{{
		name: "map-chain/fused", count: 40_000_000, parameters: map[string]any{"maps": fusedMaps},
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			s := source(job, uniform(wide), n)
			for range fusedMaps {
				s = overtake.Map(s, step)
			}
			return into(c, s, digest)
		},
		plain: loop(uniform(wide), steps(fusedMaps)),
		hands: []hand{{"goroutines, each a plain loop", 1, fusedByHand}},
	}, {
		name: "map-chain/unfused", count: 20_000_000, parameters: map[string]any{"maps": unfusedMaps, "edges": "each subtask to one"},
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			s := source(job, uniform(wide), n)
			for range unfusedMaps {
				s = overtake.Map(s.Rescale(), step)
			}
			return into(c, s.Rescale(), digest)
		},
		plain: loop(uniform(wide), steps(unfusedMaps)),
		hands: []hand{{byHand, 1, unfusedByHand}},
	}, {
		name: "filter-flatmap", count: 40_000_000, parameters: map[string]any{"passing": 0.5, "records_of_one": copies},
		build: func(c Config, job *overtake.Job, n uint64) func() uint64 {
			s := overtake.FlatMap(source(job, uniform(wide), n).Filter(passes), func(e Event, out overtake.Collector[Event]) {
				for i := range uint64(copies) {
					out.Collect(nth(e, i))
				}
			})
			return into(c, s.Rebalance(), digest)
		},
		plain: loop(uniform(wide), func(e Event) (sum uint64) {
			if passes(e) {
				for i := range uint64(copies) {
					sum += digest(nth(e, i))
				}
			}
			return sum
		}),
		hands: []hand{{byHand, 1, flatMapByHand}},
	}}
}

func steps(count int) func(e Event) uint64 {
	return func(e Event) uint64 {
		for range count {
			e = step(e)
		}
		return digest(e)
	}
}

func fusedByHand(width int, n uint64) uint64 {
	keys := uniform(wide)
	return team(width, func(worker int) (sum uint64) {
		for i := uint64(worker); i < n; i += uint64(width) {
			e := keys.event(i)
			for range fusedMaps {
				e = step(e)
			}
			sum += digest(e)
		}
		return sum
	})()
}

// unfusedByHand has as many goroutines as the job has subtasks.
func unfusedByHand(width int, n uint64) uint64 {
	keys := uniform(wide)
	return team(width, func(worker int) uint64 {
		first := newLanes(1, 1)
		go func() {
			out := first.sender()
			for i := uint64(worker); i < n; i += uint64(width) {
				out.send(0, keys.event(i))
			}
			out.finish()
		}()
		from := first
		for range unfusedMaps {
			to := newLanes(1, 1)
			go mapByHand(from, to)
			from = to
		}
		return addUp(from, 0)
	})()
}

func mapByHand(from, to *lanes) {
	out := to.sender()
	for b := range from.full[0] {
		for _, e := range b {
			out.send(0, step(e))
		}
		from.free[0] <- b[:0]
	}
	out.finish()
}

// addUp receives what is sent to a receiver.
func addUp(l *lanes, receiver int) (sum uint64) {
	for b := range l.full[receiver] {
		for i := range b {
			sum += digest(b[i])
		}
		l.free[receiver] <- b[:0]
	}
	return sum
}

func flatMapByHand(width int, n uint64) uint64 {
	keys, l := uniform(wide), newLanes(width, width)
	team(width, func(worker int) uint64 {
		out, to := l.sender(), 0
		for i := uint64(worker); i < n; i += uint64(width) {
			e := keys.event(i)
			if !passes(e) {
				continue
			}
			for i := range uint64(copies) {
				out.send(to, nth(e, i))
				if to++; to == width {
					to = 0
				}
			}
		}
		out.finish()
		return 0
	})
	return team(width, func(worker int) uint64 { return addUp(l, worker) })()
}
