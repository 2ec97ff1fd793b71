package bench_test

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
)

func TestMain(m *testing.M) {
	if bench.Child() || kin() {
		return
	}
	os.Exit(m.Run())
}

// series returns a measure that yields the values one after the other.
func series(log *[]string, name string, values ...float64) bench.Measure {
	return func(context.Context, bench.Size) (float64, error) {
		*log = append(*log, name)
		v := values[0]
		values = append(values[1:], v)
		return v, nil
	}
}

func TestANegativeNumberOfPairsIsRefused(t *testing.T) {
	var log []string
	if d, err := bench.Run(context.Background(), bench.Config{Pairs: -1}, "suite", []bench.Case{example(&log)}); err == nil || d != nil || len(log) > 0 {
		t.Errorf("Run = %v, %v after %v", d, err, log)
	}
}

func example(log *[]string) bench.Case {
	return bench.Case{
		Name: "x/y", Metric: "throughput", Unit: "B/s", Better: bench.Higher,
		Ours: series(log, "a", 999, 10, 20, 30),
		Baselines: []bench.Baseline{
			{Name: "base", Run: series(log, "b", 999, 10, 10, 10)},
			{Name: "absent", Skip: "it is not installed"},
		},
		Goal: &bench.Goal{Baseline: "base", Ratio: 2},
	}
}

func TestPairsAreInterleavedAndTheWarmUpDoesNotCount(t *testing.T) {
	var log []string
	d, err := bench.Run(context.Background(), bench.Config{Pairs: 3}, "test", []bench.Case{example(&log)})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, ""); got != "abababab" {
		t.Errorf("order %s", got)
	}
	r := d.Cases[0]
	ratio := r.Baselines[0].Ratio
	if ratio.Median != 2 || ratio.Min != 1 || ratio.Max != 3 || r.Ours.Median != 20 || len(r.Ours.Runs) != 3 {
		t.Errorf("ours %+v, ratio %+v", r.Ours, ratio)
	}
	if r.Goal == nil || !r.Goal.Met || len(r.Skipped) != 1 || r.Skipped[0].Why != "it is not installed" {
		t.Errorf("goal %+v, skipped %+v", r.Goal, r.Skipped)
	}
}

func TestGoalsOfLowerIsBetterAreUpperBounds(t *testing.T) {
	var log []string
	c := example(&log)
	c.Better, c.Goal.Ratio = bench.Lower, 1.5
	d, err := bench.Run(context.Background(), bench.Config{Pairs: 3}, "test", []bench.Case{c})
	if err != nil || d.Cases[0].Goal.Met {
		t.Fatalf("goal %+v, error %v", d.Cases[0].Goal, err)
	}
}

func TestDocumentsAreSavedLoadedAndCompared(t *testing.T) {
	var log []string
	document := func(ours ...float64) *bench.Document {
		c := example(&log)
		c.Ours, c.Baselines[0].Run = series(&log, "a", append([]float64{1}, ours...)...), series(&log, "b", 10)
		d, err := bench.Run(context.Background(), bench.Config{Pairs: 5}, "test", []bench.Case{c})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "d.json")
		if err := d.Save(path); err != nil {
			t.Fatal(err)
		}
		if d, err = bench.Load(path); err != nil {
			t.Fatal(err)
		}
		return d
	}
	before, worse, same := document(20, 21, 22, 23, 24), document(10, 11, 12, 13, 14), document(21, 20, 23, 22, 24)
	for _, c := range []struct {
		a, b *bench.Document
		want bench.Verdict
	}{{before, worse, bench.Worse}, {worse, before, bench.Better}, {before, same, bench.Same}} {
		if r := bench.Compare(c.a, c.b, bench.Test{}).Rows[0]; r.Verdict != c.want || r.Against != "base" {
			t.Errorf("%v, want %s", r, c.want)
		}
	}
	var text bytes.Buffer
	if err := before.WriteText(&text); err != nil || !strings.Contains(text.String(), "goal >= 2.000 met") {
		t.Errorf("%v\n%s", err, &text)
	}
}

func TestErrorsAreReported(t *testing.T) {
	boom := errors.New("boom")
	c := bench.Case{Name: "bad", Ours: func(context.Context, bench.Size) (float64, error) { return 0, boom }}
	if _, err := bench.Run(context.Background(), bench.Config{}, "test", []bench.Case{c}); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if _, err := bench.Run(context.Background(), bench.Config{Filter: "none"}, "test", []bench.Case{c}); err == nil {
		t.Error("no error for a filter that leaves nothing")
	}
	path := filepath.Join(t.TempDir(), "x")
	_ = os.WriteFile(path, []byte("{}"), 0o600)
	if _, err := bench.Load(path); err == nil {
		t.Error("no error for a file that is no result")
	}
}

func TestEveryCaseOfTheExchangeRuns(t *testing.T) {
	d, err := bench.Run(context.Background(), bench.Config{Pairs: 1, Size: 200}, "exchange", bench.Exchange(true, pressure.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Cases {
		if len(r.Baselines) == 0 {
			t.Errorf("%s is compared with nothing", r.Name)
		}
	}
}

func TestAFullSuiteHasTheCasesOfAShortOne(t *testing.T) {
	all := map[string]bool{}
	for _, c := range bench.Exchange(false, pressure.Config{}) {
		if all[c.Name] {
			t.Errorf("there are two cases %s", c.Name)
		}
		all[c.Name] = true
	}
	for _, c := range bench.Exchange(true, pressure.Config{}) {
		if !all[c.Name] {
			t.Errorf("%s is in the short one only", c.Name)
		}
	}
}

func TestPartsOfADocumentAreJoined(t *testing.T) {
	var none *bench.Document
	a, b := &bench.Document{Cases: []bench.Result{{Name: "a"}}}, &bench.Document{Cases: []bench.Result{{Name: "b"}}}
	if d := none.Join(nil); d != nil {
		t.Errorf("nothing joined is %v", d)
	}
	if d := none.Join(a).Join(nil).Join(b); len(d.Cases) != 2 || d.Cases[1].Name != "b" {
		t.Errorf("%+v", d)
	}
}
