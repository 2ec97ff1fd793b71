package bench

import (
	"math"
	"slices"
)

// exactLimit is how many runs, of both sides together, have their distribution
// counted out. Above it the normal approximation is right to three digits.
const exactLimit = 100

// rankTest is the two-sided Mann-Whitney U test: the probability, if both samples came
// from one distribution, of a rank sum at least as far from its mean as the one seen.
// Equal values share their mean rank, and the probability is counted over all ways of
// dealing these very ranks to the two sides, so it is exact with ties, too.
func rankTest(x, y []float64) float64 {
	n, all := len(x), len(x)+len(y)
	if n == 0 || n == all {
		return 1
	}
	ranks := doubledRanks(append(slices.Clone(x), y...))
	sum := 0
	for _, r := range ranks[:n] {
		sum += r
	}
	away := math.Abs(float64(sum - n*(all+1)))
	if all > exactLimit {
		return normalRankTest(ranks, n, away)
	}
	extreme, total := 0.0, 0.0
	for s, ways := range rankSums(ranks, n) {
		total += ways
		if math.Abs(float64(s-n*(all+1))) >= away {
			extreme += ways
		}
	}
	return min(1, extreme/total)
}

// doubledRanks are twice the ranks of the values, from 2, with equal ones in the middle
// of the places that they take: whole numbers.
func doubledRanks(values []float64) []int {
	sorted := slices.Sorted(slices.Values(values))
	ranks := make([]int, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		ranks[i] = first + last + 1
	}
	return ranks
}

// rankSums counts, for each sum, the ways to choose n of the ranks that have it.
func rankSums(ranks []int, n int) []float64 {
	top := 0
	for _, r := range ranks {
		top += r
	}
	ways := make([][]float64, n+1) // by how many are chosen, then by their sum
	for k := range ways {
		ways[k] = make([]float64, top+1)
	}
	ways[0][0] = 1
	for seen, r := range ranks {
		for k := min(n, seen+1); k > 0; k-- {
			for s := top; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	return ways[n]
}

// normalRankTest is the test for many runs, with corrections for ties and for the steps
// of the sum. away is the distance of the doubled rank sum from its mean.
func normalRankTest(ranks []int, n int, away float64) float64 {
	all, m := float64(len(ranks)), float64(len(ranks)-n)
	ties := 0.0
	counts := map[int]float64{}
	for _, r := range ranks {
		counts[r]++
	}
	for _, t := range counts {
		ties += t*t*t - t
	}
	variance := float64(n) * m / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1 // all are equal
	}
	z := max(0, away/2-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// leastP is the smallest probability that the test can give for so many runs: that of
// all of one side above all of the other.
func leastP(n, m int) float64 {
	if n == 0 || m == 0 {
		return 1
	}
	return min(1, 2*math.Exp(lfactorial(n)+lfactorial(m)-lfactorial(n+m)))
}

func lfactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n + 1))
	return v
}
