package perfcost

import (
	"context"
	"math"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf/probe"
)

// gate passes gates in a row, as the data plane has them: with the call behind them, over which
// they jump. So the loop is a small part of it; and since the gates are an odd number of bytes
// apart, they stand at all distances from where the processor's fetch windows begin, wherever
// the linker puts the code. Four in a row, or one, cost 0.34 to 0.76 ns as it happened to lie.
func gate(n int64) {
	m := &probe.Message{}
	for range n / gatesInARow {
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
		if probe.Attached() {
			probe.WriteBegin(m)
		}
	}
}

const gatesInARow = 16

// gates are what probe points cost while no profiler is attached: of the gate, which
// every buffer passes at some places, and of what is behind it.
func gates() []bench.Case {
	return []bench.Case{
		nanoseconds("probe/gate", 0.5e-9, gate),
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

// passes is how many times a few instructions are measured. The least of them counts: what they
// take never varies to less, and all that makes it more (an interrupt, another process on the
// same core, caches that are cold at first) is not theirs.
const passes = 64

// nanoseconds is the time of a call, with a goal in seconds.
func nanoseconds(name string, goal float64, calls func(n int64)) bench.Case {
	const full = 20_000_000
	return bench.Case{
		Name: name, Metric: "time", Unit: "s", Better: bench.Lower,
		Parameters: map[string]any{"calls": full, "least_of": passes},
		Ours: func(_ context.Context, s bench.Size) (float64, error) {
			n := max(gatesInARow, s.Of(full)/passes/gatesInARow*gatesInARow)
			least := time.Duration(math.MaxInt64)
			for range passes {
				began := time.Now()
				calls(n)
				least = min(least, time.Since(began))
			}
			return least.Seconds() / float64(n), nil
		},
		Baselines: []bench.Baseline{{Name: "limit", Run: bench.Constant(goal)}},
		Goal:      &bench.Goal{Baseline: "limit", Ratio: 1},
	}
}

// trap is the case of a probe at a no-op of 5 bytes, which a kernel may replace by a call,
// against one at a plain no-op of 1 byte, which it replaces by a breakpoint.
func trap(ctx context.Context, measure func(context.Context) (five, one float64, err error)) bench.Case {
	const plain = "probe/plain (1 byte)"
	c := bench.Case{
		Name: "probe/nop5", Metric: "time", Unit: "s", Better: bench.Lower, Parameters: map[string]any{"program": "empty"},
		Goal: &bench.Goal{Baseline: plain, Ratio: 0.5},
	}
	if _, _, err := measure(ctx); err != nil {
		c.Skip = err.Error()
		return c
	}
	var one float64
	c.Ours = func(ctx context.Context, _ bench.Size) (five float64, err error) {
		five, one, err = measure(ctx)
		return five / 1e9, err
	}
	c.Baselines = []bench.Baseline{{Name: plain, Run: func(context.Context, bench.Size) (float64, error) { return one / 1e9, nil }}}
	return c
}
