package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/workload"
)

// saved writes a result of a suite with one case.
func saved(t *testing.T, dir, suite string, runs ...float64) string {
	t.Helper()
	sorted := slices.Sorted(slices.Values(runs))
	d := &bench.Document{Suite: suite, Cases: []bench.Result{{
		Name: "case", Unit: "B/s", Better: bench.Higher, Ours: bench.Summary{Median: sorted[len(sorted)/2], Runs: runs},
	}}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, suite+".json")
	if err := d.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareExitsByWhatMoved(t *testing.T) {
	dir := t.TempDir()
	fast, slow := filepath.Join(dir, "fast"), filepath.Join(dir, "slow")
	a := saved(t, fast, "one", 20, 21, 22, 23, 24)
	b := saved(t, slow, "one", 10, 11, 12, 13, 14)
	saved(t, fast, "two", 1, 2, 3)
	saved(t, slow, "three", 1, 2, 3)
	if err := os.WriteFile(filepath.Join(slow, "other.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{a, b}, 1, []string{"WORSE", "p=0.008", "1 worse"}},
		{[]string{b, a}, 0, []string{"better", "0 worse"}},
		{[]string{a, a}, 0, []string{"1 the same within noise"}},
		{[]string{fast, slow}, 1, []string{"WORSE", "two: only in one", "three: only in one"}},
		{[]string{fast, filepath.Join(slow, "three.json")}, 1, []string{"only in one"}},
		{[]string{a, b, "--least", "0.9"}, 0, []string{"the same"}},
		{[]string{a, b, "--alpha", "0.001"}, 0, []string{"too few runs", "reach no less"}},
	} {
		code, stdout, stderr := overtakes(t, append([]string{"bench", "compare"}, c.args...)...)
		if code != c.code {
			t.Errorf("%v: code %d, want %d\n%s%s", c.args, code, c.code, stdout, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v: %q is not in\n%s", c.args, want, stdout)
			}
		}
	}
	if code, _, _ := overtakes(t, "bench", "compare", a, b, "--alpha", "2"); code != 2 {
		t.Errorf("a wrong --alpha: code %d", code)
	}
}

func TestResultsThatCannotBeSavedAreNotMeasured(t *testing.T) {
	dir := t.TempDir()
	for _, suite := range []string{"exchange", "state", "operators", "checkpoint", "recovery", "nexmark", "perf", "peers"} {
		for _, out := range []string{dir, filepath.Join(dir, "missing", "x.json")} {
			if code, _, stderr := overtakes(t, "bench", suite, "--quick", "--out", out); code != 2 || !strings.Contains(stderr, "--out") {
				t.Errorf("bench %s --out %s: code %d\n%s", suite, out, code, stderr)
			}
		}
	}
}

func TestReportIsDrawnFromAFolder(t *testing.T) {
	dir := t.TempDir()
	saved(t, dir, "peers-x", 1, 2, 3)
	svg, page := filepath.Join(dir, "svg"), filepath.Join(dir, "report.html")
	code, stdout, stderr := overtakes(t, "bench", "report", dir, "--svg", svg)
	text, err := os.ReadFile(page)
	if code != 0 || err != nil || !strings.Contains(stdout, page) || !strings.Contains(string(text), "peers-x") {
		t.Errorf("code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if code, _, _ := overtakes(t, "bench", "report", svg); code != 1 {
		t.Errorf("a folder without results: code %d", code)
	}
}

func TestAllRunsSuitesAndGoesOnAfterOneThatFails(t *testing.T) {
	if code, _, stderr := overtakes(t, "bench", "all", "--suite", "nothing"); code != 2 || !strings.Contains(stderr, "exchange") {
		t.Errorf("code %d\n%s", code, stderr)
	}
	if code, _, stderr := overtakes(t, "bench", "all", "--skew", "0.1"); code != 2 || !strings.Contains(stderr, "Skew") {
		t.Errorf("code %d\n%s", code, stderr)
	}
}

func TestJobsUnderPressureHaveTheSameResults(t *testing.T) {
	for _, more := range []string{"", "--starve", "--stall 20ms --seed 3", "--slow-disk 1MB/s --checkpoint-interval 20ms"} {
		args := append([]string{"run", "totals", "-q", "-p", "2", "--keys", "7", "--count", "20000"}, strings.Fields(more)...)
		if strings.Contains(more, "slow-disk") {
			args = append(args, "--checkpoint-dir", t.TempDir())
		}
		code, stdout, stderr := overtakes(t, args...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		slices.Sort(lines)
		if code != 0 || len(lines) != 7 {
			t.Errorf("%s: code %d\n%s%s", more, code, stdout, stderr)
		}
		if want := plainTotals(t); !slices.Equal(lines, want) {
			t.Errorf("%s: %v, want %v", more, lines, want)
		}
	}
	if code, stdout, _ := overtakes(t, "run", "totals", "-q", "--keys", "7", "--count", "20000", "--skew", "3"); code != 0 || !strings.Contains(stdout, "{0 16") {
		t.Errorf("code %d: keys are not skewed:\n%s", code, stdout)
	}
	for _, wrong := range []string{"--slow-disk 10MB/s", "--slow-disk 10 --checkpoint-dir x", "--stall -1s", "--stall=-1s", "--slow-sink=-1s", "--skew=-1", "--skew 1", "--keys 0"} {
		if code, _, stderr := overtakes(t, append([]string{"run", "totals", "--count", "1"}, strings.Fields(wrong)...)...); code != 2 {
			t.Errorf("%s: code %d\n%s", wrong, code, stderr)
		}
	}
}

// plainTotals are the lines of the same job without pressure.
func plainTotals(t *testing.T) []string {
	t.Helper()
	sums := map[uint64]int64{}
	for n := range uint64(20000) {
		e := workload.NewEvent(n, 7)
		sums[e.Key] += e.Amount
	}
	var lines []string
	for key, sum := range sums {
		lines = append(lines, fmt.Sprintf("{%d %d}", key, sum))
	}
	slices.Sort(lines)
	return lines
}

func TestPressureThatMakesNoSenseForASuiteIsAUsageError(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"exchange --slow-disk 1MB/s", "--slow-disk makes no sense for exchange: it is for state, checkpoint, checkpoint-backpressure, recovery, nexmark"},
		{"state --starve", "--starve makes no sense for state: it is for exchange, operators,"},
		{"state --slow-sink 1ms --stall 1ms", "--stall makes no sense for state"},
		{"nexmark --skew 2", "--skew makes no sense for nexmark: it is for exchange, operators, state, checkpoint, recovery, perf"},
		{"checkpoint-backpressure --skew 2", "--skew makes no sense"},
		{"operators --slow-disk 1MB/s", "--slow-disk makes no sense"},
		{"perf --slow-disk 1MB/s", "--slow-disk makes no sense"},
		{"recovery --skew 0.5", "Skew is 0.5"},
	} {
		if code, _, stderr := overtakes(t, append([]string{"bench"}, strings.Fields(c.args)...)...); code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("bench %s: code %d, want 2 and %q\n%s", c.args, code, c.want, stderr)
		}
	}
}

func TestASuiteUnderPressureSaysSo(t *testing.T) {
	code, stdout, stderr := overtakes(t, "bench", "exchange", "--quick", "--pairs", "1", "--filter", "local/16ch", "--skew", "1.5", "--stall", "1ms", "--seed", "3", "--json")
	for _, want := range []string{`"pressure_skew": 1.5`, `"pressure_stall_seconds": 0.001`, `"pressure_seed": 3`, "busiest_channel_share", "no pressure"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("code %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}
