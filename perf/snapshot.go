package perf

import (
	"fmt"
	"math"
	"time"
)

// Snapshot is what a Histogram had counted at some time. It is a value of 19 KB
// with a single owner: snapshots of several histograms add up with Merge, those of
// one histogram at two times give the time between with Sub.
type Snapshot struct {
	counts [buckets]uint64
	count  uint64
	max    int64
}

// Count is the number of values.
func (s *Snapshot) Count() uint64 { return s.count }

// Max is the greatest value, 0 if there is none.
func (s *Snapshot) Max() int64 { return s.max }

// Quantile returns a value such that a share q of all values, from 0 to 1, is not
// above it; it is at most 1/64 greater than the least such value. It is 0 if there
// are no values.
func (s *Snapshot) Quantile(q float64) int64 {
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(s.count)))
	rank = min(max(rank, 1), s.count)
	var seen uint64
	for i, n := range s.counts {
		if seen += n; n > 0 && seen >= rank {
			_, high := span(i)
			return min(high, s.max)
		}
	}
	return 0
}

// Mean is the mean value, right to 1/128 if none is above 2^42-1.
func (s *Snapshot) Mean() float64 {
	if s.count == 0 {
		return 0
	}
	sum := 0.0
	for i, n := range s.counts {
		low, high := span(i)
		sum += float64(n) * (float64(low) + float64(min(high, s.max))) / 2
	}
	return sum / float64(s.count)
}

// Merge adds the values of other.
func (s *Snapshot) Merge(other *Snapshot) {
	for i, n := range other.counts {
		s.counts[i] += n
	}
	s.count += other.count
	s.max = max(s.max, other.max)
}

// Sub takes away the values of earlier, a snapshot of the same histogram (or of the
// same ones, merged). Max is then known to a bucket's width only, unless the
// maximum is new.
func (s *Snapshot) Sub(earlier *Snapshot) {
	for i, n := range earlier.counts {
		s.counts[i] -= n
	}
	s.count -= earlier.count
	if s.count == 0 {
		s.max = 0
	} else if s.max == earlier.max {
		_, high := span(s.last())
		s.max = min(s.max, high)
	}
}

// last is the highest bucket that counts a value, 0 if none does.
func (s *Snapshot) last() int {
	for i := len(s.counts) - 1; i > 0; i-- {
		if s.counts[i] > 0 {
			return i
		}
	}
	return 0
}

// String is the distribution on one line, taking values for nanoseconds.
func (s *Snapshot) String() string {
	at := func(q float64) time.Duration { return time.Duration(s.Quantile(q)) }
	return fmt.Sprintf("n=%d p50=%v p90=%v p99=%v p99.9=%v max=%v",
		s.count, at(0.5), at(0.9), at(0.99), at(0.999), time.Duration(s.max))
}
