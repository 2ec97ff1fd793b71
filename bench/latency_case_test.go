package bench_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf"
)

// milliseconds returns a measure that records 1 to 100 ms, times factor; the first
// time, as a warm-up would, an hour.
func milliseconds(factor int) bench.Latency {
	warm := false
	return func(_ context.Context, _ bench.Size, into *perf.Histogram) error {
		if !warm {
			warm = true
			into.Record(int64(time.Hour))
			return nil
		}
		for i := 1; i <= 100; i++ {
			into.Record(int64(time.Duration(i*factor) * time.Millisecond))
		}
		return nil
	}
}

func TestLatencyCasesGivePercentilesOfAllRuns(t *testing.T) {
	c := bench.Case{
		Name: "latency", Metric: "latency", Unit: "s", Better: bench.Lower,
		Latency: milliseconds(1), Quantile: 0.9, Goal: &bench.Goal{Baseline: "slow", Ratio: 0.5},
		Baselines: []bench.Baseline{{Name: "slow", Latency: milliseconds(2)}},
	}
	d, err := bench.Run(context.Background(), bench.Config{Pairs: 3}, "test", []bench.Case{c})
	if err != nil {
		t.Fatal(err)
	}
	r := d.Cases[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want || got > want*(1+1./64) {
			t.Errorf("%s is %v, want %v up to 1/64 more", what, got, want)
		}
	}
	near("ours", r.Ours.Median, 0.090)
	near("baseline", r.Baselines[0].Median, 0.180)
	p := r.Ours.Percentiles
	near("p50", p.P50, 0.050)
	near("p90", p.P90, 0.090)
	near("p99", p.P99, 0.099)
	near("p99.9", p.P999, 0.100)
	near("max", r.Baselines[0].Percentiles.Max, 0.200)
	if !r.Goal.Met {
		t.Errorf("goal %+v", r.Goal)
	}
	b, err := json.Marshal(d)
	if err != nil || !strings.Contains(string(b), `"p99.9":0.1`) {
		t.Errorf("%v: %s", err, b)
	}
}

func TestALatencyCaseThatRecordsNothingFails(t *testing.T) {
	c := bench.Case{Name: "latency", Latency: func(context.Context, bench.Size, *perf.Histogram) error { return nil }}
	if _, err := bench.Run(context.Background(), bench.Config{}, "test", []bench.Case{c}); err == nil {
		t.Fatal("no error")
	}
}

func TestAFigureAgainstNothingCanBeWritten(t *testing.T) {
	c := bench.Case{
		Name: "allocations", Better: bench.Lower, Ours: bench.Constant(1), Goal: &bench.Goal{Baseline: "none", Ratio: 1},
		Baselines: []bench.Baseline{{Name: "none", Run: bench.Constant(0)}},
	}
	d, err := bench.Run(context.Background(), bench.Config{}, "test", []bench.Case{c})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(d); err != nil || d.Cases[0].Goal.Met {
		t.Fatalf("goal %+v, error %v", d.Cases[0].Goal, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var log []string
	c := example(&log)
	c.Ours = func(context.Context, bench.Size) (float64, error) { cancel(); return 1, nil }
	if _, err := bench.Run(ctx, bench.Config{}, "test", []bench.Case{c}); err == nil || len(log) > 0 {
		t.Fatalf("error %v, then measured %v", err, log)
	}
}
