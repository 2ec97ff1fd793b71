package bench

import (
	"context"

	"github.com/overtake-stream/overtake/perf"
)

// echoCases compare 64-byte messages there and back with a plain connection: one at
// a time, and at a fixed rate with latency from when each was due.
func echoCases() []Case {
	const rate = 10_000
	w := wire{Memory: 16 << 20}
	const base = "net.Conn"
	return []Case{{
		Name: "latency/ping-pong", Metric: "latency", Unit: "s", Better: Lower,
		Parameters: map[string]any{"bytes": pingSize, "processes": 2, "quantile": 0.5},
		Latency: func(ctx context.Context, s Size, into *perf.Histogram) error {
			return w.roundTrips(ctx, s.Of(20_000), into)
		},
		Baselines: []Baseline{{Name: base, Latency: func(ctx context.Context, s Size, into *perf.Histogram) error {
			return w.rawRoundTrips(ctx, s.Of(20_000), into)
		}}},
	}, {
		Name: "latency/open-loop", Metric: "latency", Unit: "s", Better: Lower, Quantile: 0.99,
		Parameters: map[string]any{"bytes": pingSize, "processes": 2, "quantile": 0.99, "messages_per_second": rate},
		Latency: func(ctx context.Context, s Size, into *perf.Histogram) error {
			return w.openLoop(ctx, rate, s.Of(20_000), into)
		},
		Baselines: []Baseline{{Name: base, Latency: func(ctx context.Context, s Size, into *perf.Histogram) error {
			return w.rawOpenLoop(ctx, rate, s.Of(20_000), into)
		}}},
	}}
}
