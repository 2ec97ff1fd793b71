package nexmark_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bench/nexmark"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// tiny measures next to nothing.
func tiny(t *testing.T) nexmark.Config {
	return nexmark.Config{Pairs: 1, Quick: true, Folder: t.TempDir(), Events: 5000, Duration: 20 * time.Millisecond, Interval: 5 * time.Millisecond, Rate: 100_000}
}

func TestQueriesAreMeasured(t *testing.T) {
	cfg := tiny(t)
	cfg.Queries = []string{"q0", "q5", "q10", "running"}
	d, err := nexmark.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if d.Suite != nexmark.Suite || len(d.Cases) != 16 {
		t.Fatalf("suite %q with %d cases, want 4 for each query", d.Suite, len(d.Cases))
	}
	for _, c := range d.Cases {
		if !(c.Ours.Median > 0) {
			t.Errorf("%s: %v", c.Name, c.Ours)
		}
		if strings.HasSuffix(c.Name, "/latency") {
			if c.Ours.Percentiles == nil || c.Parameters["rate_events_per_second"] != 100_000.0 {
				t.Errorf("%s: %+v, %v", c.Name, c.Ours, c.Parameters)
			}
		} else if len(c.Baselines) != 1 || !(c.Baselines[0].Ratio.Median > 0) {
			t.Errorf("%s: baselines %+v", c.Name, c.Baselines)
		}
		if n, ok := c.Parameters["result_rows"].(int64); !ok || n == 0 {
			t.Errorf("%s: %v rows", c.Name, c.Parameters["result_rows"])
		}
	}
	if left, err := os.ReadDir(cfg.Folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMeasurementsAreConfigured(t *testing.T) {
	cfg := tiny(t)
	cfg.Queries, cfg.Filter = []string{"q2"}, "latency"
	cfg.Rate, cfg.NoCheckpoints, cfg.Parallelism = 150_000, true, 1
	cfg.Pressure.SlowSink = 10 * time.Millisecond
	d, err := nexmark.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Cases[0]
	if len(d.Cases) != 1 || c.Parameters["checkpoints"] != "off" || c.Ours.Percentiles.P50 < 5e-3 {
		t.Errorf("%+v", c)
	}
}

func TestWrongConfigurationsAreReported(t *testing.T) {
	_, err := nexmark.Run(context.Background(), nexmark.Config{Pairs: -1, Parallelism: -1, Rate: -1, Duration: -1, Queries: []string{"q99"}, Group: 953})
	for _, word := range []string{"Pairs", "Parallelism", "Rate", "Duration", "q99", "Group"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v, want a word about %s", err, word)
		}
	}
	if _, err := nexmark.Run(context.Background(), nexmark.Config{Filter: "nothing"}); err == nil {
		t.Error("a filter without cases ran")
	}
}

// The results are still checked, and rows cannot come faster than the sink lets them.
func TestQueriesUnderPressureHaveTheSameResults(t *testing.T) {
	cfg := tiny(t)
	cfg.Queries, cfg.Filter = []string{"running"}, "throughput"
	cfg.Pressure = pressure.Config{SlowSink: 20 * time.Microsecond, Stall: 5 * time.Millisecond, Starve: true, SlowDisk: 10e6, Seed: 1}
	d, err := nexmark.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Cases[0]
	rows, subtasks := float64(c.Parameters["result_rows"].(int64)), 2.0
	if least := rows * 20e-6 / subtasks / 2; c.Ours.Median > float64(cfg.Events)/least || c.Parameters["pressure_starve"] != true {
		t.Errorf("%v events/s, want at least %v s for %v rows: %v", c.Ours.Median, least, rows, c.Parameters)
	}
	cfg.Pressure = pressure.Config{Skew: 2}
	if _, err := nexmark.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "not skew") {
		t.Errorf("error %v", err)
	}
}
