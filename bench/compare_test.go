package bench_test

import (
	"math"
	"slices"
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

// The probabilities are those of the published tables of the U test: 2/C(10,5) for
// five and five apart, and so on.
func TestMovesAreJudgedByTheMannWhitneyTest(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		p    float64 // 0: no move
	}{
		{"five apart", []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252},
		{"five, one exchanged", []float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9, 10}, 4.0 / 252},
		{"five, U = 2", []float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}, 8.0 / 252},
		{"five, U = 3", []float64{1, 2, 3, 4, 8}, []float64{5, 6, 7, 9, 10}, 0},
		{"the same", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5}, 0},
		{"three apart", []float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20},
		{"three, one exchanged", []float64{1, 2, 4}, []float64{3, 5, 6}, 0},
		{"three and five apart", []float64{1, 2, 3}, []float64{4, 5, 6, 7, 8}, 2.0 / 56},
		{"apart, but close", []float64{100, 101, 102, 103, 104}, []float64{105, 105.1, 105.2, 105.3, 105.4}, 0},
		{"two and two", []float64{1, 2}, []float64{8, 9}, 0},
		{"all equal", []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1, 1, 1}, 0},
	} {
		moves, regression := bench.Compare(result(bench.Higher, c.a...), result(bench.Higher, c.b...))
		switch {
		case regression:
			t.Errorf("%s: a rise is no regression", c.name)
		case c.p == 0 && len(moves) != 0, c.p != 0 && len(moves) != 1:
			t.Errorf("%s: moves %v, want p = %v", c.name, moves, c.p)
		case c.p != 0 && math.Abs(moves[0].P-c.p) > 1e-12:
			t.Errorf("%s: p = %v, want %v", c.name, moves[0].P, c.p)
		}
	}
}

func TestRegressionsFollowTheDirection(t *testing.T) {
	low, high := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	for _, c := range []struct {
		better     string
		a, b       []float64
		regression bool
	}{
		{bench.Higher, low, high, false},
		{bench.Higher, high, low, true},
		{bench.Lower, low, high, true},
		{bench.Lower, high, low, false},
	} {
		moves, regression := bench.Compare(result(c.better, c.a...), result(c.better, c.b...))
		if len(moves) != 1 || regression != c.regression || moves[0].Regression != c.regression {
			t.Errorf("%s is better, %v to %v: moves %v, regression %v", c.better, c.a, c.b, moves, regression)
		}
	}
}

func TestSomethingFromNothingIsAMove(t *testing.T) {
	none, some := result(bench.Lower, 0, 0, 0, 0, 0), result(bench.Lower, 1, 1, 1, 1, 1)
	if moves, regression := bench.Compare(none, some); len(moves) != 1 || !regression {
		t.Errorf("moves %v, regression %v", moves, regression)
	}
}

func TestCasesThatOnlyOneHasAreLeftOut(t *testing.T) {
	a, b := result(bench.Higher, 1, 2, 3), result(bench.Higher, 4, 5, 6)
	b.Cases[0].Name = "another"
	if moves, regression := bench.Compare(a, b); len(moves) != 0 || regression {
		t.Errorf("moves %v", moves)
	}
}
