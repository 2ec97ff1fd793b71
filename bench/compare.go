package bench

import (
	"fmt"
	"math"
	"slices"
)

// Move is a case whose figure differs between two documents by more than chance.
type Move struct {
	Case       string
	From, To   float64 // medians of what was compared
	Unit       string  // of both; "" for ratios
	P          float64 // chance of such a difference if nothing had changed
	Regression bool
}

// String is the move on one line.
func (m Move) String() string {
	word := "better"
	if m.Regression {
		word = "WORSE"
	}
	return fmt.Sprintf("%-34s %s -> %s  %+.1f%%  p=%.3f  %s", m.Case, Quantity(m.From, m.Unit), Quantity(m.To, m.Unit), 100*(m.To/m.From-1), m.P, word)
}

// A difference counts if it is at least this likely not to be chance, and this large
// as a part of what it was: smaller ones come and go with the machine's memory layout.
const (
	significance = 0.05
	least        = 0.05
)

// Compare returns the cases of b that differ from a; cases that only one has are left
// out. A case with a baseline is compared by its ratios to the first one, since those
// do not depend on the machine's mood; others by their figures. Differences are
// judged by the two-sided Mann-Whitney U test, exact for the few runs there are. Where
// they are too few for it (three and three reach no less than 0.1), all runs of one
// must lie above all of the other. Fewer tell nothing.
func Compare(a, b *Document) (moves []Move, regression bool) {
	for _, from := range a.Cases {
		i := slices.IndexFunc(b.Cases, func(r Result) bool { return r.Name == from.Name })
		if i < 0 {
			continue
		}
		to := b.Cases[i]
		x, y, unit := from.Ours, to.Ours, from.Unit
		if len(from.Baselines) > 0 && len(to.Baselines) > 0 && from.Baselines[0].Name == to.Baselines[0].Name {
			x, y, unit = from.Baselines[0].Ratio, to.Baselines[0].Ratio, ""
		}
		p := mannWhitney(x.Runs, y.Runs)
		if p > threshold(len(x.Runs), len(y.Runs)) || math.Abs(y.Median-x.Median) <= least*math.Abs(x.Median) {
			continue
		}
		m := Move{Case: from.Name, From: x.Median, To: y.Median, Unit: unit, P: p}
		m.Regression = (y.Median < x.Median) == (from.Better == Higher)
		regression = regression || m.Regression
		moves = append(moves, m)
	}
	return moves, regression
}

// mannWhitney is the two-sided probability of a rank sum as extreme as the one seen,
// if both samples came from one distribution. The distribution of U is counted by
// the recurrence of Mann and Whitney (1947).
func mannWhitney(x, y []float64) float64 {
	if len(x) == 0 || len(y) == 0 {
		return 1
	}
	u := 0.0
	for _, a := range x {
		for _, b := range y {
			switch {
			case a > b:
				u++
			case a == b:
				u += 0.5
			}
		}
	}
	n, m := len(x), len(y)
	u = math.Min(u, float64(n*m)-u)
	ways := rankSums(n, m)
	low, total := 0.0, 0.0
	for k, w := range ways {
		total += w
		if float64(k) <= u {
			low += w
		}
	}
	return math.Min(1, 2*low/total)
}

// threshold is the greatest p that counts for n and m runs: the least that they can
// have, if that is above significance and not absurd.
func threshold(n, m int) float64 {
	orders := 0.0
	for _, w := range rankSums(n, m) {
		orders += w
	}
	if least := 2 / orders; least <= 0.1 {
		return max(significance, least)
	}
	return significance
}

// rankSums counts, for each value of U, the orders of n and m elements that have it.
func rankSums(n, m int) []float64 {
	table := make([][][]float64, n+1)
	for i := range table {
		table[i] = make([][]float64, m+1)
		for j := range table[i] {
			row := make([]float64, i*j+1)
			if i == 0 || j == 0 {
				row[0] = 1
			} else {
				for k := range row {
					if k >= j && k-j < len(table[i-1][j]) {
						row[k] += table[i-1][j][k-j]
					}
					if k < len(table[i][j-1]) {
						row[k] += table[i][j-1][k]
					}
				}
			}
			table[i][j] = row
		}
	}
	return table[n][m]
}
