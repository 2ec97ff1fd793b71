package state_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/bench/state"
)

func TestMain(m *testing.M) {
	if state.Child() {
		return
	}
	os.Exit(m.Run())
}

// tiny runs every case, at sizes that tell nothing.
func tiny(t *testing.T) state.Config {
	return state.Config{Sizes: []int64{2000, 5000}, Records: 2000, Pairs: 1, Quick: true, Trees: 3000, Folder: t.TempDir()}
}

func TestEveryCaseRunsAndTheDocumentIsValid(t *testing.T) {
	cfg := tiny(t)
	lines := 0
	cfg.Progress = func(string) { lines++ }
	d, err := state.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if lines != len(d.Cases) {
		t.Errorf("%d lines of progress for %d cases", lines, len(d.Cases))
	}
	seen := map[string]bench.Result{}
	for _, r := range d.Cases {
		if _, again := seen[r.Name]; again {
			t.Errorf("two cases are called %s", r.Name)
		}
		seen[r.Name] = r
		checkResult(t, r)
	}
	for _, name := range []string{
		"load/p99.99", "load/p99.99/processor-time", "load/max", "load/max/processor-time", "snapshot/p99.9/processor-time", "snapshot/8-open/p99.9/processor-time",
		"bytes-per-key", "allocations-per-update", "update", "update/64-ahead", "get", "update/while-written",
		"snapshot/p99.9", "snapshot/8-open/p99.9", "update/after-snapshot", "full-collection", "write", "write/as-loaded", "update/after-snapshot/64-ahead", "restore", "write/file",
		"increment/5%-changed", "increment/unchanged", "memory/overlapping-snapshots",
	} {
		for _, size := range []string{"8+8/2k", "8+8/5k", "16+200/2k"} {
			if _, ok := seen[size+"/"+name]; !ok {
				t.Errorf("no case %s/%s", size, name)
			}
		}
	}
	if r := seen["8+8/5k/get"]; len(r.Skipped) != 2 {
		t.Errorf("trees above their size are not skipped: %+v", r.Skipped)
	}
	if r := seen["8+8/5k/snapshot/p50"]; r.Goal == nil || len(r.Baselines) != 1 {
		t.Errorf("snapshots are not compared with the smallest size: %+v", r)
	}
	roundTrip(t, d)
}

func checkResult(t *testing.T, r bench.Result) {
	t.Helper()
	if len(r.Ours.Runs) != 1 || len(r.Baselines) == 0 {
		t.Errorf("%s: runs %v against %d baselines", r.Name, r.Ours.Runs, len(r.Baselines))
	}
	if r.Parameters["seed"] == nil || r.Parameters["keys"] == nil {
		t.Errorf("%s: parameters %v", r.Name, r.Parameters)
	}
	if r.Ours.Median <= 0 && !strings.HasSuffix(r.Name, "allocations-per-update") && !strings.HasSuffix(r.Name, "bytes-per-key") {
		t.Errorf("%s measured %v", r.Name, r.Ours.Median)
	}
	for _, exact := range []string{"allocations-per-update", "increment/unchanged"} {
		if strings.HasSuffix(r.Name, exact) && (r.Goal == nil || !r.Goal.Met) {
			t.Errorf("%s: %v, goal %+v", r.Name, r.Ours.Median, r.Goal)
		}
	}
}

func roundTrip(t *testing.T, d *bench.Document) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := d.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := bench.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := again.WriteText(&text); err != nil || strings.Count(text.String(), "goal") < 10 {
		t.Errorf("%v\n%s", err, &text)
	}
	if again.Suite != "state" || again.Environment.Cores == 0 {
		t.Errorf("suite %q, environment %+v", again.Suite, again.Environment)
	}
}

func TestFilterRunsOnlyWhatItNames(t *testing.T) {
	cfg := tiny(t)
	cfg.Filter = "8+8/5k/increment/unchanged"
	d, err := state.Run(context.Background(), cfg)
	if err != nil || len(d.Cases) != 1 || d.Cases[0].Ours.Median == 0 {
		t.Fatalf("%+v, error %v", d, err)
	}
	cfg.Filter = "nothing like it"
	if _, err := state.Run(context.Background(), cfg); err == nil {
		t.Error("no error for a filter that leaves nothing")
	}
}

func TestConfigurationsThatCannotBeAreRefused(t *testing.T) {
	err := state.Config{Sizes: []int64{1}, Records: 2e9, Pairs: -1}.Validate()
	if err == nil || strings.Count(err.Error(), "set ") != 3 {
		t.Errorf("error %v", err)
	}
}

func TestEndsWhenItsContextDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := state.Run(ctx, tiny(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestStoresUnderPressureHaveTheCasesThatItActsOn(t *testing.T) {
	cfg := tiny(t)
	cfg.Sizes, cfg.Pressure = cfg.Sizes[:1], pressure.Config{Skew: 2, SlowDisk: 1_000_000, Seed: 1}
	d, err := state.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bench.Result{}
	for _, r := range d.Cases {
		seen[r.Name] = r
		if r.Goal != nil {
			t.Errorf("%s: goals are not for stores under pressure", r.Name)
		}
	}
	update, file, during := seen["8+8/2k/update"], seen["8+8/2k/write/file"], seen["8+8/2k/update/while-written"]
	// By Zipf's law with exponent 2, the first key has 1/1.64 of all.
	if share, _ := update.Parameters["first_key_share"].(float64); share < 0.58 || share > 0.65 {
		t.Errorf("update: %v", update.Parameters)
	}
	if r := file.Ours.Median; r <= 0 || r > 1_000_000 || file.Parameters["pressure_skew"] != nil {
		t.Errorf("write/file: %v B/s, %v", r, file.Parameters)
	}
	if r, _ := during.Parameters["written_bytes_per_second"].(float64); r <= 0 || r > 1_000_000 {
		t.Errorf("update/while-written: %v", during.Parameters)
	}
	if _, ok := seen["8+8/2k/load/max"]; ok {
		t.Error("loading is not under pressure, and is there")
	}
	cfg.Pressure = pressure.Config{Starve: true}
	if _, err := state.Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "not starve") {
		t.Errorf("error %v", err)
	}
}
