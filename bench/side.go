package bench

import (
	"context"
	"errors"

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
	}
	return sum
}

func seconds(nanoseconds int64) float64 { return float64(nanoseconds) / 1e9 }
