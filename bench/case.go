package bench

import "context"

// Case is one thing to measure, and what to compare it with.
type Case struct {
	Name       string
	Parameters map[string]any
	Metric     string // "throughput", "time", "cpu"
	Unit       string // base units: B/s, records/s, s, s/B
	Better     string // Higher or Lower

	Ours      Measure
	Baselines []Baseline
	Goal      *Goal // nil: none
}

// Higher and Lower say which figures are better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Measure takes one measurement in the case's unit, of about budget's size.
type Measure func(ctx context.Context, size Size) (float64, error)

// Size scales a measurement: full ones move as much as is needed for a steady
// figure, quick ones a tenth.
type Size struct{ Quick bool }

// Of is n for a full measurement, and a tenth of it for a quick one.
func (s Size) Of(n int64) int64 {
	if s.Quick {
		return max(1, n/10)
	}
	return n
}

// Baseline is what a case is compared with.
type Baseline struct {
	Name string
	Run  Measure
	Skip string // why it cannot run here; empty: it can
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
