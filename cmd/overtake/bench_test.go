package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
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
