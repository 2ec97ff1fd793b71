package perf

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Histogram counts values, usually nanoseconds, in buckets whose width is at most
// 1/64 of the values in them. Its memory is fixed (19 KB) and recording allocates
// nothing. The zero Histogram is empty.
//
// Any goroutine may Record and any may take a Snapshot, at any time; recording is
// fastest where a single goroutine does.
//
// The buckets are linear within a power of two, and twice as wide in the next one,
// as in G. Tene's HdrHistogram. The values below 128 have a bucket each; those of
// 2^42-1 (73 minutes) and more share the last.
type Histogram struct {
	counts [buckets]atomic.Uint64
	max    atomic.Int64
}

const (
	subBits  = 6 // a power of two is cut into 64 buckets
	maxBits  = 42
	maxValue = 1<<maxBits - 1
	buckets  = (maxBits - subBits + 1) << subBits
)

// Record counts a value; a negative one counts as 0.
func (h *Histogram) Record(v int64) {
	h.counts[bucket(v)].Add(1)
	if v > h.max.Load() {
		h.raise(v)
	}
}

func (h *Histogram) raise(v int64) {
	for old := h.max.Load(); v > old && !h.max.CompareAndSwap(old, v); old = h.max.Load() {
	}
}

// Snapshot returns what has been counted so far. Values that are being recorded
// meanwhile may be in it or not.
func (h *Histogram) Snapshot() (s Snapshot) {
	for i := range h.counts {
		n := h.counts[i].Load()
		s.counts[i] = n
		s.count += n
	}
	if s.count > 0 {
		// The maximum is written after the count and may be behind it, or ahead.
		low, high := span(s.last())
		s.max = min(max(h.max.Load(), low), high)
	}
	return s
}

// bucket returns the bucket that counts a value.
func bucket(v int64) int {
	v = min(max(v, 0), maxValue)
	shift := bits.Len64(uint64(v)|1<<subBits) - subBits - 1
	return shift<<subBits + int(v>>shift)
}

// span returns the least and the greatest value of a bucket.
func span(i int) (low, high int64) {
	shift := max(i>>subBits-1, 0)
	low = int64(i-shift<<subBits) << shift
	if i == buckets-1 {
		return low, math.MaxInt64
	}
	return low, low + 1<<shift - 1
}
