package ckpt_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/ckpt"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// TestMain lets the test binary be a copy that a suite starts.
func TestMain(m *testing.M) {
	if ckpt.Child() {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tiny measures next to nothing.
func tiny(t *testing.T) ckpt.Config {
	return ckpt.Config{
		Pairs: 1, Quick: true, Folder: t.TempDir(), State: 160_000, Slice: 30 * time.Millisecond, Interval: 10 * time.Millisecond,
		Checkpoints: 2, Patience: 200 * time.Millisecond,
	}
}

func run(t *testing.T, cfg ckpt.Config, suite string) *bench.Document {
	t.Helper()
	defer goleak.VerifyNone(t)
	d, err := ckpt.Run(context.Background(), cfg, suite)
	if err != nil {
		t.Fatal(err)
	}
	if d.Suite != suite {
		t.Errorf("suite %q, want %q", d.Suite, suite)
	}
	for _, c := range d.Cases {
		if c.Ours.Median < 0 || c.Ours.Median == 0 && !strings.HasSuffix(c.Name, "in-flight") {
			t.Errorf("%s: median %v", c.Name, c.Ours.Median)
		}
		if _, ok := c.Parameters["load_average"]; !ok {
			t.Errorf("%s: the load is not among the parameters", c.Name)
		}
	}
	left, err := os.ReadDir(cfg.Folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return d
}

// goals are the cases that have one.
func goals(d *bench.Document) (names []string) {
	for _, c := range d.Cases {
		if c.Goal != nil {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestCheckpointsAreMeasuredInAllModes(t *testing.T) {
	d := run(t, tiny(t), ckpt.Checkpoint)
	want := []string{"aligned/throughput", "aligned/pause/p99.9", "unaligned/throughput", "unaligned/pause/p99.9", "auto/throughput", "auto/pause/p99.9"}
	if got := goals(d); !slices.Equal(got, want) {
		t.Errorf("goals of %v, want %v", got, want)
	}
	for _, c := range d.Cases {
		if n, ok := c.Parameters["checkpoints"].(int); !ok || n == 0 {
			t.Errorf("%s: %v checkpoints", c.Name, c.Parameters["checkpoints"])
		}
	}
}

func TestRecoveriesAreMeasured(t *testing.T) {
	d := run(t, tiny(t), ckpt.Recovery)
	want := []string{"kill-9/0-increments", "kill-9/15-increments", "cancel/0-increments"}
	if got := goals(d); !slices.Equal(got, want) {
		t.Errorf("goals of %v, want %v", got, want)
	}
}

func TestBackpressureIsMeasuredInOneProcessAndTwo(t *testing.T) {
	for _, filter := range []string{"map/64B/8KiB/memory/1p/unaligned/sink-200µs", "map/64B/8KiB/memory/1p/auto/sink-10ms", "nosync/2p/unaligned/sink-10ms", "flatmap50/64B/8KiB/memory/1p/unaligned/sink-10ms"} {
		cfg := tiny(t)
		cfg.Filter = filter
		run(t, cfg, ckpt.Backpressure)
	}
}

func TestWrongConfigurationsAreReported(t *testing.T) {
	_, err := ckpt.Run(context.Background(), ckpt.Config{Pairs: -1, State: 1, Changing: 2, Checkpoints: -1, Parallelism: -1, Slice: -1}, ckpt.Recovery)
	for _, word := range []string{"Pairs", "State", "Changing", "Checkpoints", "Parallelism", "Slice"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v, want a word about %s", err, word)
		}
	}
	if _, err := ckpt.Run(context.Background(), ckpt.Config{}, "nothing"); err == nil {
		t.Error("a suite that does not exist ran")
	}
	if _, err := ckpt.Run(context.Background(), ckpt.Config{Filter: "nothing"}, ckpt.Recovery); err == nil {
		t.Error("a filter without cases ran")
	}
}

func TestPressureIsPassedOn(t *testing.T) {
	squeezed := pressure.Config{Stall: 5 * time.Millisecond, Starve: true, SlowDisk: 100e6, Seed: 3}
	cfg := tiny(t)
	cfg.Pressure, cfg.Filter = squeezed, "aligned/throughput"
	cfg.Pressure.SlowSink, cfg.Pressure.Skew = 10*time.Microsecond, 1.5
	r := run(t, cfg, ckpt.Checkpoint).Cases[0]
	if r.Parameters["pressure_slow_disk_bytes_per_second"] != int64(100e6) || r.Goal != nil {
		t.Errorf("%+v", r)
	}
	// Two subtasks let a record through in 10 µs; of a sleep, less than 1 ms is left over.
	if r.Ours.Median > 1.5*2/10e-6 {
		t.Errorf("%v records/s under the pressure of a slow sink", r.Ours.Median)
	}
	cfg = tiny(t)
	cfg.Pressure, cfg.Filter = squeezed, "map/64B/8KiB/memory/1p/unaligned"
	cfg.Pressure.SlowSink = time.Millisecond
	for _, r := range run(t, cfg, ckpt.Backpressure).Cases {
		if r.Metric == "latency" && !strings.HasSuffix(r.Name, "/sink-1ms") {
			t.Errorf("a case %s although the sink takes 1 ms", r.Name)
		}
	}
}

// What is read at a rate takes its time, wherever it is restored.
func TestRecoveriesFromASlowDiskTakeItsTime(t *testing.T) {
	cfg := tiny(t)
	cfg.Filter = "0-increments"
	cfg.Pressure = pressure.Config{SlowDisk: 2e6, Skew: 1.2, Stall: time.Millisecond, SlowSink: time.Millisecond, Seed: 3}
	for _, r := range run(t, cfg, ckpt.Recovery).Cases {
		if r.Metric == "time" && r.Ours.Median < 0.5*float64(cfg.State)/2e6 { // it may be stored in less
			t.Errorf("%s: %v s for %d bytes at 2 MB/s", r.Name, r.Ours.Median, cfg.State)
		}
		if r.Goal != nil || r.Parameters["pressure_skew"] != 1.2 {
			t.Errorf("%+v", r)
		}
	}
}

func TestKindsOfPressureThatASuiteDoesNotTakeAreRefused(t *testing.T) {
	cfg := tiny(t)
	cfg.Pressure = pressure.Config{Skew: 2}
	if _, err := ckpt.Run(context.Background(), cfg, ckpt.Backpressure); err == nil || !strings.Contains(err.Error(), "not skew") {
		t.Errorf("error %v", err)
	}
}
