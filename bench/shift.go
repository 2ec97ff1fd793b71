package bench

import (
	"math"
	"slices"
)

// Interval is an estimate, and between what bounds the true value lies with some
// confidence.
type Interval struct {
	Estimate, Low, High float64
	Confidence          float64 // of the bounds; 0: there are too few runs for bounds
}

// ratioShift estimates by what factor the figures of y differ from those of x: the
// median of all quotients of a figure of y and one of x (Hodges and Lehmann), with
// bounds that belong to the U test: they leave 1 out where the test finds a difference.
func ratioShift(x, y []float64, alpha float64) Interval {
	var quotients []float64
	for _, a := range x {
		for _, b := range y {
			quotients = append(quotients, quotient(b, a))
		}
	}
	if len(quotients) == 0 {
		return Interval{Estimate: 1}
	}
	slices.Sort(quotients)
	n := len(quotients)
	v := Interval{Estimate: middle(quotients), Low: quotients[0], High: quotients[n-1]}
	if cut, confidence := cutQuotients(len(x), len(y), alpha); cut > 0 {
		v.Low, v.High, v.Confidence = quotients[cut-1], quotients[n-cut], confidence
	}
	return v
}

// cutQuotients is which of the sorted quotients, from either end, is the bound with at
// least 1-alpha confidence, and how much that is; 0: none.
func cutQuotients(n, m int, alpha float64) (cut int, confidence float64) {
	if n+m > exactLimit {
		z := math.Sqrt2 * math.Erfinv(1-alpha)
		half := float64(n*m) / 2
		cut = int(half - z*math.Sqrt(float64(n*m*(n+m+1))/12))
		return max(0, cut), 1 - alpha
	}
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = i + 1
	}
	ways := rankSums(ranks, n)
	total := 0.0
	for _, w := range ways {
		total += w
	}
	least := n * (n + 1) / 2 // the rank sum of U = 0
	below := 0.0
	for ; least+cut < len(ways) && (below+ways[least+cut])/total <= alpha/2; cut++ {
		below += ways[least+cut]
	}
	return cut, 1 - 2*below/total
}

// quotient is 1 for two zeros: nothing has changed.
func quotient(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

// middle is the median of sorted values, of which there is at least one.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}
