package bench

import (
	"cmp"
	"fmt"
	"slices"
)

// Test says when a difference counts. Zero fields mean the defaults.
type Test struct {
	// Alpha is how likely a difference may be by chance and still count; default 0.05.
	// Three runs against three reach no less than 0.1, four against four 0.03.
	Alpha float64
	// Least is how large it must be, as a part of what was; default 0.05. Smaller
	// ones come and go with the machine's memory layout.
	Least float64
}

func (t Test) withDefaults() Test {
	return Test{Alpha: cmp.Or(t.Alpha, 0.05), Least: cmp.Or(t.Least, 0.05)}
}

// Verdict is what a comparison says of a case.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "same"         // nothing beyond noise
	Better Verdict = "better"       //
	Worse  Verdict = "WORSE"        //
	TooFew Verdict = "too few runs" // whatever they had been, they could not tell
)

// Row is a case of two documents.
type Row struct {
	Case     string
	Against  string  // the baseline whose ratio is compared; "": the figures themselves are
	Unit     string  // of From and To; "" for ratios
	From, To float64 // medians
	Runs     [2]int

	Factor  Interval // of To to From
	P       float64  // chance of such a difference if nothing had changed
	Verdict Verdict
}

// Comparison is what two documents of a suite say together.
type Comparison struct {
	Suite                 string
	Test                  Test
	Rows                  []Row
	OnlyBefore, OnlyAfter []string // cases of one alone
	Notes                 []string // what makes the comparison doubtful
}

// Compare compares two documents of one suite, case by case. A case with a baseline is
// compared by its ratios to the first one, which do not depend on the machine's mood;
// others by their figures. Where that baseline is our own code under other parameters,
// what has become slower in both is seen in other cases only.
//
// Differences are judged by the Mann-Whitney U test, and by their size: by what factor,
// as Hodges and Lehmann estimate it.
func Compare(a, b *Document, test Test) *Comparison {
	c := &Comparison{Suite: a.Suite, Test: test.withDefaults(), Notes: doubts(a.Environment, b.Environment)}
	for _, from := range a.Cases {
		to, ok := b.find(from.Name)
		if !ok {
			c.OnlyBefore = append(c.OnlyBefore, from.Name)
			continue
		}
		if from.Unit != to.Unit || from.Better != to.Better || from.Metric != to.Metric {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: not compared: %s in %s, %s better, then %s in %s, %s better",
				from.Name, from.Metric, from.Unit, from.Better, to.Metric, to.Unit, to.Better))
			continue
		}
		if len(from.Ours.Runs) == 0 || len(to.Ours.Runs) == 0 {
			c.Notes = append(c.Notes, from.Name+": not compared: it could not run everywhere")
			continue
		}
		if from.quick() != to.quick() {
			c.Notes = append(c.Notes, from.Name+": one is a quick run, the other is not")
		}
		c.Rows = append(c.Rows, c.Test.row(from, to))
	}
	for _, to := range b.Cases {
		if _, ok := a.find(to.Name); !ok {
			c.OnlyAfter = append(c.OnlyAfter, to.Name)
		}
	}
	return c
}

// Count is how many rows have a verdict.
func (c *Comparison) Count(v Verdict) (n int) {
	for _, r := range c.Rows {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

func (t Test) row(from, to Result) Row {
	x, y := from.Ours, to.Ours
	r := Row{Case: from.Name, Unit: from.Unit}
	if len(from.Baselines) > 0 && len(to.Baselines) > 0 && from.Baselines[0].Name == to.Baselines[0].Name {
		x, y, r.Unit, r.Against = from.Baselines[0].Ratio, to.Baselines[0].Ratio, "", from.Baselines[0].Name
	}
	r.From, r.To, r.Runs = x.Median, y.Median, [2]int{len(x.Runs), len(y.Runs)}
	r.P, r.Factor = rankTest(x.Runs, y.Runs), ratioShift(x.Runs, y.Runs, t.Alpha)
	r.Verdict = t.judge(r, from.Better)
	return r
}

// judge gives the verdict of a row.
func (t Test) judge(r Row, better string) Verdict {
	f := r.Factor.Estimate
	switch {
	case r.Factor.Low == 1 && r.Factor.High == 1 && r.Runs[0] > 0 && r.Runs[1] > 0: // all runs are equal
		return Same
	case leastP(r.Runs[0], r.Runs[1]) > t.Alpha:
		return TooFew
	case !t.large(f) || r.P > t.Alpha:
		return Same
	case (f > 1) == (better == Higher):
		return Better
	}
	return Worse
}

// large reports whether a factor is enough of a difference.
func (t Test) large(f float64) bool { return f > 1+t.Least || f < 1-t.Least }

func (d *Document) find(name string) (Result, bool) {
	i := slices.IndexFunc(d.Cases, func(r Result) bool { return r.Name == name })
	if i < 0 {
		return Result{}, false
	}
	return d.Cases[i], true
}

func (r Result) quick() bool { quick, _ := r.Parameters["quick"].(bool); return quick }

// doubts says what differs between where two documents were made.
func doubts(a, b Environment) (notes []string) {
	for _, f := range []struct{ name, before, after string }{
		{"processor", a.CPU, b.CPU}, {"Go", a.Go, b.Go}, {"kernel", a.Kernel, b.Kernel},
	} {
		if f.before != f.after {
			notes = append(notes, "another "+f.name+": "+f.before+", then "+f.after)
		}
	}
	if a.Cores != b.Cores || a.GOMAXPROCS != b.GOMAXPROCS {
		notes = append(notes, "another number of cores")
	}
	return notes
}
