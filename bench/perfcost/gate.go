package perfcost

import (
	"context"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf/probe"
)

// gates are what probe points cost while no profiler is attached: of the gate, which
// every buffer passes at some places, and of what is behind it.
func gates() []bench.Case {
	return []bench.Case{
		nanoseconds("probe/gate", 0.5e-9, func(n int64) {
			m, open := probe.Message{}, 0
			for range n {
				if probe.Attached() {
					probe.WriteBegin(&m)
					open++
				}
			}
		}),
		nanoseconds("probe/stub", 5e-9, func(n int64) {
			m := probe.Message{}
			for range n {
				probe.WriteBegin(&m)
			}
		}),
		nanoseconds("probe/clock", 100e-9, func(n int64) {
			for range n {
				probe.Now()
			}
		}),
	}
}

// nanoseconds is the processor time of a call, with a goal in seconds.
func nanoseconds(name string, goal float64, calls func(n int64)) bench.Case {
	const full = 20_000_000
	return bench.Case{
		Name: name, Metric: "cpu", Unit: "s", Better: bench.Lower,
		Parameters: map[string]any{"calls": full},
		Ours: func(_ context.Context, s bench.Size) (float64, error) {
			n := s.Of(full)
			began, cpu := time.Now(), bench.CPUSeconds()
			calls(n)
			spent := bench.CPUSeconds() - cpu
			if spent == 0 { // where it is not known
				spent = time.Since(began).Seconds()
			}
			return spent / float64(n), nil
		},
		Baselines: []bench.Baseline{{Name: "limit", Run: bench.Constant(goal)}},
		Goal:      &bench.Goal{Baseline: "limit", Ratio: 1},
	}
}
