package operators_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/operators"
	"github.com/overtake-stream/overtake/bench/pressure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every run of every side is compared with a plain loop: a wrong sum is an error.
func TestEveryFlowRunsAndAddsUp(t *testing.T) {
	cfg := operators.Config{Config: bench.Config{Pairs: 1, Size: 2000}}
	d, err := operators.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Cases) != 27 {
		t.Errorf("%d cases, want three of each of nine flows", len(d.Cases))
	}
	for _, r := range d.Cases {
		if len(r.Baselines) == 0 || r.Metric != "allocations" && !(r.Ours.Median > 0) {
			t.Errorf("%+v", r)
		}
	}
}

func TestFiguresOfAFilteredRunAreMeasuredByThemselves(t *testing.T) {
	cfg := operators.Config{Config: bench.Config{Pairs: 1, Size: 2000, Filter: "rebalance/cpu"}}
	d, err := operators.Run(context.Background(), cfg)
	if err != nil || len(d.Cases) != 1 || len(d.Cases[0].Baselines) != 2 {
		t.Fatalf("%v %+v", err, d)
	}
}

func TestPressureIsComparedWithTheSameJobWithoutIt(t *testing.T) {
	cfg := operators.Config{Config: bench.Config{Pairs: 1, Size: 100, Filter: "keyBy/100k-keys"}}
	cfg.Pressure = pressure.Config{SlowSink: 50 * time.Microsecond, Skew: 1.2, Stall: 10 * time.Millisecond, Starve: true, Seed: 7}
	d, err := operators.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Cases[0]
	if len(r.Baselines) != 1 || r.Baselines[0].Name != "no pressure" || r.Parameters["pressure_skew"] != 1.2 {
		t.Fatalf("%+v", r)
	}
	if ratio := r.Baselines[0].Ratio.Median; ratio > 0.9 {
		t.Errorf("the job under pressure has %v of the speed without", ratio)
	}
}

func TestConfigurationsAreValidated(t *testing.T) {
	under := func(p pressure.Config) operators.Config { return operators.Config{Config: bench.Config{Pressure: p}} }
	for _, c := range []operators.Config{{Parallelism: -1}, under(pressure.Config{Skew: 0.5}), under(pressure.Config{SlowDisk: 10_000})} {
		if _, err := operators.Run(context.Background(), c); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}
