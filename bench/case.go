package bench

import (
	"context"

	"github.com/overtake-stream/overtake/perf"
)

// Case is one thing to measure, and what to compare it with.
type Case struct {
	Name       string
	Parameters map[string]any
	Metric     string // "throughput", "time", "cpu"
	Unit       string // base units: B/s, records/s, s, s/B
	Better     string // Higher or Lower

	Ours      Measure
	Latency   Latency // instead of Ours
	Quantile  float64 // of the latencies, which is the figure; default 0.5
	Baselines []Baseline
	Goal      *Goal  // nil: none
	Skip      string // why it cannot run here; empty: it can
	// Annotate, if set, adds to the parameters what is known after the measurements.
	Annotate func(parameters map[string]any)
}

// Higher and Lower say which figures are better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Measure takes one measurement in the case's unit, of about the given size.
type Measure func(ctx context.Context, size Size) (float64, error)

// Latency takes one measurement of many latencies: it records each, in nanoseconds.
type Latency func(ctx context.Context, size Size, into *perf.Histogram) error

// Size scales a measurement: the amount of work is divided by it. 1 is a full one.
type Size int64

// Of is n scaled.
func (s Size) Of(n int64) int64 { return max(1, n/max(1, int64(s))) }

// quick is the Size of a quick measurement.
const quick Size = 10

// Baseline is what a case is compared with.
type Baseline struct {
	Name    string
	Run     Measure
	Latency Latency // instead of Run; then the case has one, too
	Skip    string  // why it cannot run here; empty: it can
}

// Goal is a ratio, ours to a baseline, that is to be reached: at least Ratio where
// higher is better, at most Ratio where lower is.
type Goal struct {
	Baseline string
	Ratio    float64
}

// Constant is a baseline that is a given figure.
func Constant(v float64) Measure {
	return func(context.Context, Size) (float64, error) { return v, nil }
}
