package bench_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
)

// result makes a document of one case without a baseline.
func result(better string, runs ...float64) *bench.Document {
	sorted := slices.Sorted(slices.Values(runs))
	return &bench.Document{Suite: "test", Cases: []bench.Result{{
		Name: "case", Better: better, Ours: bench.Summary{Median: sorted[len(sorted)/2], Runs: runs},
	}}}
}

func only(t *testing.T, a, b *bench.Document, test bench.Test) bench.Row {
	t.Helper()
	c := bench.Compare(a, b, test)
	if len(c.Rows) != 1 {
		t.Fatalf("rows %v, want one", c.Rows)
	}
	return c.Rows[0]
}

// The probabilities are those of the published tables of the U test: 2/C(10,5) for
// five and five apart, and so on; those with ties were counted over all 252 ways.
func TestMovesAreJudgedByTheMannWhitneyTest(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b    []float64
		p       float64
		verdict bench.Verdict
	}{
		{"five apart", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252, bench.Better},
		{"five, one exchanged", []float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9, 10}, 4.0 / 252, bench.Better},
		{"five, U = 2", []float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}, 8.0 / 252, bench.Better},
		{"five, U = 3", []float64{1, 2, 3, 4, 8}, []float64{5, 6, 7, 9, 10}, 14.0 / 252, bench.Same},
		{"the same", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}, 1, bench.Same},
		{"three apart", []float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20, bench.TooFew},
		{"three and five apart", []float64{1, 2, 3}, []float64{4, 5, 6, 7, 8}, 2.0 / 56, bench.Better},
		{"four apart", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70, bench.Better},
		{"four, one exchanged", []float64{1, 2, 3, 5}, []float64{4, 6, 7, 8}, 4.0 / 70, bench.Same},
		{"apart, but close", []float64{100, 101, 102, 103, 104}, []float64{105, 105.1, 105.2, 105.3, 105.4}, 2.0 / 252, bench.Same},
		{"two and two", []float64{1, 2}, []float64{8, 9}, 2.0 / 6, bench.TooFew},
		{"one and one", []float64{1}, []float64{9}, 1, bench.TooFew},
		{"all equal", []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 1, 1}, 1, bench.Same},
		{"two equal ones", []float64{1, 1}, []float64{1, 1}, 1, bench.Same},
		{"ties on one side", []float64{0, 0, 0, 0, 0}, []float64{1, 1, 1, 1, 1}, 2.0 / 252, bench.Better},
		{"ties across", []float64{1, 2, 3, 4, 5}, []float64{5, 6, 7, 8, 9}, 4.0 / 252, bench.Better},
	} {
		r := only(t, result(bench.Higher, c.a...), result(bench.Higher, c.b...), bench.Test{})
		if math.Abs(r.P-c.p) > 1e-12 || r.Verdict != c.verdict {
			t.Errorf("%s: p = %v, %s; want %v, %s", c.name, r.P, r.Verdict, c.p, c.verdict)
		}
	}
}

// critical is the table of critical values of U for the two-sided test at 0.05, by the
// number of runs of both sides: the greatest U that counts.
func TestCriticalValuesAreThoseOfTheTable(t *testing.T) {
	critical := map[[2]int]int{
		{4, 4}: 0, {5, 5}: 2, {6, 6}: 5, {7, 7}: 8, {8, 8}: 13, {9, 9}: 17, {10, 10}: 23, {12, 12}: 37, {15, 15}: 64, {20, 20}: 127,
		{3, 5}: 0, {3, 10}: 3, {5, 8}: 6, {5, 10}: 8, {8, 12}: 22, {10, 20}: 55, {4, 6}: 2, {7, 10}: 14,
	}
	for size, u := range critical {
		for _, c := range []struct{ u, counts int }{{u, 1}, {u + 1, 0}} {
			x, y := samplesWith(size[0], size[1], c.u)
			r := only(t, result(bench.Higher, x...), result(bench.Higher, y...), bench.Test{Least: 1e-9})
			if (r.P <= 0.05) != (c.counts == 1) {
				t.Errorf("%d and %d runs with U = %d: p = %v", size[0], size[1], c.u, r.P)
			}
		}
	}
}

// samplesWith makes samples without ties whose U is given: how many pairs have the
// greater value on the side of x.
func samplesWith(n, m, u int) (x, y []float64) {
	for i := range m {
		y = append(y, 1000+float64(i))
	}
	for i := range n {
		over := min(m, u) // how many of y this one is above
		u -= over
		x = append(x, 1000+float64(over)-0.5+float64(i)/1000)
	}
	return x, y
}

func TestManyRunsAreJudgedByTheNormalApproximation(t *testing.T) {
	var x, y, z []float64
	for i := range 60 {
		x = append(x, 100+float64(i))
		y = append(y, 100+float64(i)+30)
		z = append(z, 100.5+float64((i*7)%60))
	}
	if r := only(t, result(bench.Higher, x...), result(bench.Higher, y...), bench.Test{}); r.Verdict != bench.Better || r.P > 1e-6 {
		t.Errorf("shifted: %v", r)
	}
	if r := only(t, result(bench.Higher, x...), result(bench.Higher, z...), bench.Test{}); r.Verdict != bench.Same || r.P < 0.5 {
		t.Errorf("the same: %v", r)
	}
	r := only(t, result(bench.Higher, x...), result(bench.Higher, y...), bench.Test{})
	if f := r.Factor; !(f.Low < f.Estimate && f.Estimate < f.High && f.Low > 1.1 && f.High < 1.4) {
		t.Errorf("factor %+v", f)
	}
}

// With five and five runs the bounds are the third of 25 sorted quotients from either
// end: P(U <= 2) is 4/252 on each side, which leaves 96.8%.
func TestTheFactorHasBoundsThatBelongToTheTest(t *testing.T) {
	x, y := []float64{1, 1, 1, 1, 1}, []float64{2, 3, 4, 5, 6}
	f := only(t, result(bench.Higher, x...), result(bench.Higher, y...), bench.Test{}).Factor
	if f.Estimate != 4 || f.Low != 2 || f.High != 6 || math.Abs(f.Confidence-(1-8.0/252)) > 1e-12 {
		t.Errorf("factor %+v", f)
	}
	if f := only(t, result(bench.Higher, 1, 2, 3), result(bench.Higher, 4, 5, 6), bench.Test{}).Factor; f.Confidence != 0 || f.Estimate != 2.5 {
		t.Errorf("three runs: factor %+v", f)
	}
	// Where the test finds a difference, and there alone, the bounds leave out 1.
	for u := range 13 {
		x, y := samplesWith(5, 5, u)
		r := only(t, result(bench.Higher, x...), result(bench.Higher, y...), bench.Test{})
		if (r.P <= 0.05) != (r.Factor.Low > 1 || r.Factor.High < 1) {
			t.Errorf("U = %d: %v", u, r)
		}
	}
}

func TestRegressionsFollowTheDirection(t *testing.T) {
	low, high := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	for _, c := range []struct {
		better string
		a, b   []float64
		want   bench.Verdict
	}{
		{bench.Higher, low, high, bench.Better},
		{bench.Higher, high, low, bench.Worse},
		{bench.Lower, low, high, bench.Worse},
		{bench.Lower, high, low, bench.Better},
		{bench.Lower, []float64{0, 0, 0, 0, 0}, []float64{1, 1, 1, 1, 1}, bench.Worse},
	} {
		if r := only(t, result(c.better, c.a...), result(c.better, c.b...), bench.Test{}); r.Verdict != c.want {
			t.Errorf("%s is better, %v to %v: %s", c.better, c.a, c.b, r.Verdict)
		}
	}
}

func TestFiguresOfAnotherKindAreNotCompared(t *testing.T) {
	for name, change := range map[string]func(*bench.Result){
		"unit":      func(r *bench.Result) { r.Unit = "s" },
		"metric":    func(r *bench.Result) { r.Metric = "latency" },
		"direction": func(r *bench.Result) { r.Better = bench.Lower },
	} {
		a, b := result(bench.Higher, 1, 2, 3, 4, 5), result(bench.Higher, 100, 200, 300, 400, 500)
		change(&b.Cases[0])
		if c := bench.Compare(a, b, bench.Test{}); len(c.Rows) != 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "not compared") {
			t.Errorf("another %s: rows %v, notes %q", name, c.Rows, c.Notes)
		}
	}
}

func TestWeakerEvidenceMayBeAskedFor(t *testing.T) {
	a, b := result(bench.Higher, 4, 5, 6), result(bench.Higher, 1, 2, 3)
	if r := only(t, a, b, bench.Test{Alpha: 0.1}); r.Verdict != bench.Worse {
		t.Errorf("%v", r)
	}
	a, b = result(bench.Higher, 10, 11, 12, 13, 14), result(bench.Higher, 5, 6, 7, 8, 9)
	if r := only(t, a, b, bench.Test{Least: 0.5}); r.Verdict != bench.Same {
		t.Errorf("%v", r)
	}
}

func TestComparisonsSayWhatMakesThemDoubtful(t *testing.T) {
	a, b := result(bench.Higher, 1, 2, 3), result(bench.Higher, 4, 5, 6)
	b.Environment.CPU, b.Cases[0].Parameters = "another one", map[string]any{"quick": true}
	b.Cases = append(b.Cases, bench.Result{Name: "new"})
	c := bench.Compare(a, b, bench.Test{})
	var text bytes.Buffer
	if err := c.WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"another processor", "one is a quick run", "only after: new", "3 and 3 runs reach no less than p=0.100", "1 with too few"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
	b.Cases[0].Name = "renamed"
	if c := bench.Compare(a, b, bench.Test{}); len(c.Rows) != 0 || len(c.OnlyBefore) != 1 || len(c.OnlyAfter) != 2 {
		t.Errorf("%+v", c)
	}
}
