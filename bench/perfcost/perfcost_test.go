package perfcost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/perfcost"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/perf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJobsOfAllKindsComeThrough(t *testing.T) {
	for _, w := range []perfcost.Work{
		{Job: "exchange", Records: 10_000}, {Job: "keyBy", Records: 10_000}, {Job: "workers", Records: 10_000},
		{Job: "exchange", Records: 2_000, Rate: 50_000},
	} {
		t.Run(fmt.Sprint(w.Job, w.Rate), func(t *testing.T) {
			o, err := w.Do(context.Background())
			if err != nil || o.Read != w.Records || o.Seconds <= 0 || o.Measured != perf.Enabled || (w.Rate > 0) != (o.P99 > 0) {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
	if _, err := (perfcost.Work{Job: "another", Records: 1}).Do(context.Background()); err == nil {
		t.Error("no error for a job that there is not")
	}
}

func TestSubjectDoesWhatItIsTold(t *testing.T) {
	var out bytes.Buffer
	err := perfcost.Subject(context.Background(), strings.NewReader(`{"Job": "exchange", "Records": 100}`), &out)
	var o perfcost.Outcome
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &o)
	}
	if err != nil || o.Read != 100 {
		t.Errorf("%+v, %v, want 100 records", o, err)
	}
	out.Reset()
	err = perfcost.Subject(context.Background(), strings.NewReader("no"), &out)
	if err := errors.Join(err, json.Unmarshal(out.Bytes(), &o)); err != nil || o.Err == "" {
		t.Errorf("%+v, %v, want to be told that this is no work", o, err)
	}
}

func TestWithoutTheGoCommandTheBaselineIsSkipped(t *testing.T) {
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 10_000, Filter: "exchange/"}, Tool: "no-such-command"}
	wantSkipped(t, cfg, "no-such-command")
}

func TestWithoutTheSourceTheBaselineIsSkipped(t *testing.T) {
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 10_000, Filter: "exchange/"}, Module: t.TempDir()}
	wantSkipped(t, cfg, "source is not in")
}

func wantSkipped(t *testing.T, cfg perfcost.Config, why string) {
	t.Helper()
	d, err := perfcost.Run(context.Background(), cfg)
	if err != nil || len(d.Cases) != 4 {
		t.Fatalf("%+v, %v, want four cases", d, err)
	}
	for _, r := range d.Cases {
		if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Why, why) || !(r.Ours.Median > 0) || len(r.Baselines) != 0 {
			t.Errorf("%+v, want it measured, and the baseline skipped: %q", r, why)
		}
	}
}

// TestBothProgramsAreBuiltAndCompared takes the time of a build when nothing is cached.
func TestBothProgramsAreBuiltAndCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 10_000, Filter: "exchange/throughput"}, Module: "../.."}
	d, err := perfcost.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Cases[0]
	if len(r.Skipped) == 1 && strings.Contains(r.Skipped[0].Why, "no go command") {
		t.Skip(r.Skipped[0].Why)
	}
	if len(r.Baselines) != 1 || !(r.Baselines[0].Median > 0) || r.Parameters["own_process"] != true {
		t.Errorf("%+v, want both sides measured", r)
	}
}

func TestAnObserverIsAttachedForItsSideOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	var attached, running atomic.Int32
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 50, Filter: "ebpf/throughput"}, Module: "../.."}
	cfg.Observe = func(ctx context.Context, pid int, _ time.Duration, ready func()) error {
		if syscall.Kill(pid, 0) != nil || running.Add(1) != 1 {
			t.Error("no such process, or another one is looked at")
		}
		attached.Add(1)
		ready()
		<-ctx.Done()
		running.Add(-1)
		return nil
	}
	d, err := perfcost.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases) == 0 {
		t.Skip("there is no go command")
	}
	if r := d.Cases[0]; !(r.Ours.Median > 0) || len(r.Baselines) != 1 || !(r.Baselines[0].Median > 0) {
		t.Errorf("%+v, want both sides measured", r)
	}
	if attached.Load() != 4 || running.Load() != 0 {
		t.Errorf("%d observers were attached, want one for each of 1+3 windows; %d are left", attached.Load(), running.Load())
	}
	if q, _ := d.Cases[0].Parameters["ratio_first_quartile"].(float64); !(q > 0) {
		t.Errorf("parameters %v", d.Cases[0].Parameters)
	}
}

func TestTrapsAreComparedOrSayWhyNot(t *testing.T) {
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 10_000, Filter: "probe/nop5"}, Tool: "no-such-command"}
	cfg.Traps = func(context.Context) (five, one float64, err error) { return 200, 500, nil }
	d, err := perfcost.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Cases[0]; r.Ours.Median != 200e-9 || r.Baselines[0].Median != 500e-9 || !r.Goal.Met {
		t.Errorf("%+v", r)
	}
	cfg.Traps = func(context.Context) (five, one float64, err error) {
		return 0, 0, errors.New("operation not permitted")
	}
	if d, err = perfcost.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := d.WriteText(&text); err != nil || !strings.Contains(text.String(), "n/a  operation not permitted") {
		t.Errorf("%v\n%s", err, &text)
	}
}

func TestJobsUnderPressureAreHeldUp(t *testing.T) {
	const each = 100 * time.Microsecond
	p := pressure.Config{SlowSink: each, Stall: 5 * time.Millisecond, Starve: true, Skew: 1.5, Seed: 1}
	o, err := perfcost.Work{Job: "keyBy", Records: 2000, Pressure: p}.Do(context.Background())
	// Each of two subtasks has 1000 records; of a sleep, less than 1 ms is left over.
	if err != nil || o.Read != 2000 || o.Seconds < 0.099 {
		t.Errorf("%+v, %v", o, err)
	}
	cfg := perfcost.Config{Config: bench.Config{Pairs: 1, Size: 10_000, Pressure: p}, Tool: "no-such-command"}
	d, err := perfcost.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases) != 2 || d.Cases[0].Name != "keyBy/throughput" || d.Cases[0].Parameters["pressure_skew"] != 1.5 {
		t.Errorf("%+v, want what has keys alone", d.Cases)
	}
	cfg.Pressure = pressure.Config{SlowDisk: 1e6}
	if _, err := perfcost.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "not slow-disk") {
		t.Errorf("error %v", err)
	}
}
