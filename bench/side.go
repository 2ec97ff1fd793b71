package bench

import (
	"context"
	"errors"
	"math"

	"github.com/overtake-stream/overtake/perf"
)

// side is ours or a baseline while a case runs.
type side struct {
	measure  Measure
	latency  Latency
	quantile float64

	runs      []float64
	latencies perf.Snapshot // of all runs
}

var errNoLatencies = errors.New("no latency was recorded")

// run takes one measurement.
func (s *side) run(ctx context.Context, size Size) error {
	if s.latency == nil {
		v, err := s.measure(ctx, size)
		s.runs = append(s.runs, v)
		return err
	}
	var h perf.Histogram
	if err := s.latency(ctx, size, &h); err != nil {
		return err
	}
	run := h.Snapshot()
	if run.Count() == 0 {
		return errNoLatencies
	}
	q := s.quantile
	if q == 0 {
		q = 0.5
	}
	s.runs = append(s.runs, seconds(run.Quantile(q)))
	s.latencies.Merge(&run)
	return nil
}

// forget drops what was measured: it was the warm-up.
func (s *side) forget() { s.runs, s.latencies = nil, perf.Snapshot{} }

func (s *side) summary() Summary {
	sum := summarise(s.runs)
	if s.latency != nil {
		at := func(q float64) float64 { return seconds(s.latencies.Quantile(q)) }
		sum.Percentiles = &Percentiles{P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: at(1)}
		sum.Distribution = distribution(&s.latencies)
	}
	return sum
}

// distribution has ten places for each power of ten that the rest shrinks by, as far as
// there are latencies.
func distribution(s *perf.Snapshot) (list []Quantile) {
	last := math.Log10(float64(s.Count()))
	for i := 0; float64(i) <= 10*last; i++ {
		q := 1 - math.Pow(10, -float64(i)/10)
		list = append(list, Quantile{Share: q, Seconds: seconds(s.Quantile(q))})
	}
	return list
}

func seconds(nanoseconds int64) float64 { return float64(nanoseconds) / 1e9 }
