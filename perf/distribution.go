package perf

import "math"

// Distribution sums up times, in seconds. The quantiles and Max are right to 1/64 where
// the times come from a Histogram, Mean and Sum to 1/128; those that Merge and Since
// return are right to 1/8.
type Distribution struct {
	Count uint64  `json:"count"`
	Sum   float64 `json:"sum_seconds"`
	Mean  float64 `json:"mean_seconds"`
	P50   float64 `json:"p50_seconds"`
	P90   float64 `json:"p90_seconds"`
	P99   float64 `json:"p99_seconds"`
	P999  float64 `json:"p99.9_seconds"`
	Max   float64 `json:"max_seconds"`

	// Buckets are those that are not empty, in order. A power of two nanoseconds is cut
	// into 8.
	Buckets []Bucket `json:"buckets,omitempty"`
}

// Bucket counts the times below Below and not below that of the bucket before it, if
// the distance is 1/8 of a power of two.
type Bucket struct {
	Below float64 `json:"below_seconds"`
	Count uint64  `json:"count"`
}

// coarse is how many of a Snapshot's buckets make one Bucket, within a power of two.
const coarse = 1 << subBits / 8

// Distribution sums up a snapshot of nanoseconds.
func (s *Snapshot) Distribution() Distribution {
	const ns = 1e-9
	d := Distribution{Count: s.count}
	if s.count == 0 {
		return d
	}
	d.Mean = s.Mean() * ns
	d.Sum = d.Mean * float64(s.count)
	d.P50, d.P90, d.P99 = float64(s.Quantile(0.5))*ns, float64(s.Quantile(0.9))*ns, float64(s.Quantile(0.99))*ns
	d.P999, d.Max = float64(s.Quantile(0.999))*ns, float64(s.max)*ns
	for i := 0; i < buckets; i += coarse {
		n := uint64(0)
		for _, c := range s.counts[i : i+coarse] {
			n += c
		}
		if n > 0 {
			low, _ := span(i + coarse - 1)
			width := int64(1) << max((i+coarse-1)>>subBits-1, 0)
			d.Buckets = append(d.Buckets, Bucket{Below: float64(low+width) * ns, Count: n})
		}
	}
	return d
}

// Merge returns the times of both.
func (d Distribution) Merge(other Distribution) Distribution {
	if other.Count == 0 {
		return d
	}
	if d.Count == 0 {
		return other
	}
	sum := Distribution{Sum: d.Sum + other.Sum, Max: max(d.Max, other.Max)}
	a, b := d.Buckets, other.Buckets
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Below < b[0].Below:
			sum.Buckets, a = append(sum.Buckets, a[0]), a[1:]
		case len(a) == 0 || b[0].Below < a[0].Below:
			sum.Buckets, b = append(sum.Buckets, b[0]), b[1:]
		default:
			sum.Buckets = append(sum.Buckets, Bucket{Below: a[0].Below, Count: a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	sum.digest()
	return sum
}

// Since returns the times that have come since earlier, a distribution of the same
// times. What has become less in between did not: the times began anew, and all count.
func (d Distribution) Since(earlier Distribution) Distribution {
	if earlier.Count == 0 || d.Count < earlier.Count {
		return d
	}
	rest := Distribution{Sum: max(0, d.Sum-earlier.Sum), Max: d.Max}
	old := earlier.Buckets
	for _, b := range d.Buckets {
		for len(old) > 0 && old[0].Below < b.Below {
			old = old[1:]
		}
		if len(old) > 0 && old[0].Below == b.Below {
			if old[0].Count > b.Count {
				return d
			}
			b.Count -= old[0].Count
		}
		if b.Count > 0 {
			rest.Buckets = append(rest.Buckets, b)
		}
	}
	if n := len(rest.Buckets); n > 0 {
		rest.Max = min(rest.Max, rest.Buckets[n-1].Below)
	} else {
		rest.Max, rest.Sum = 0, 0
	}
	rest.digest()
	return rest
}

// digest computes what follows from Buckets, Sum and Max.
func (d *Distribution) digest() {
	d.Count = 0
	for _, b := range d.Buckets {
		d.Count += b.Count
	}
	if d.Count > 0 {
		d.Mean = d.Sum / float64(d.Count)
	}
	d.P50, d.P90, d.P99, d.P999 = d.Quantile(0.5), d.Quantile(0.9), d.Quantile(0.99), d.Quantile(0.999)
}

// Quantile returns a time such that a share q of all times, from 0 to 1, is not above
// it: the end of a bucket, or Max.
func (d Distribution) Quantile(q float64) float64 {
	rank := max(1, uint64(math.Ceil(min(max(q, 0), 1)*float64(d.Count))))
	var seen uint64
	for _, b := range d.Buckets {
		if seen += b.Count; seen >= rank {
			return min(b.Below, d.Max)
		}
	}
	return 0
}
