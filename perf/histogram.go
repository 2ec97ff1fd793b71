package perf

import (
	"math"
	"math/bits"
	"sync"
)

// Histogram counts values, usually nanoseconds, in buckets whose width is at most
// 1/64 of the values in them. Its memory is fixed (21 KB) and recording allocates
// nothing. The zero Histogram is empty.
//
// Any goroutine may Record and any may take a Snapshot, at any time. Who records for each
// of many buffers of data uses a Batch: to lock, or to add atomically, is to wait until
// all that was written before has left the processor, and memory for it may be far.
//
// The buckets are linear within a power of two, and twice as wide in the next one,
// as in G. Tene's HdrHistogram. The values below 128 have a bucket each; those of
// 2^42-1 (73 minutes) and more share the last.
type Histogram struct {
	mu  sync.Mutex
	max int64
	// What has been counted is 256*many + few. Counting touches few alone, almost always: a
	// cache line for a power of two, where whole numbers would take eight of them.
	few  [buckets]uint8
	many [buckets]uint64
}

const (
	subBits  = 6 // a power of two is cut into 64 buckets
	maxBits  = 42
	maxValue = 1<<maxBits - 1
	buckets  = (maxBits - subBits + 1) << subBits
)

// Record counts a value; a negative one counts as 0.
func (h *Histogram) Record(v int64) {
	h.mu.Lock()
	h.add(v)
	h.mu.Unlock()
}

// add is Record. The caller holds mu.
func (h *Histogram) add(v int64) {
	b := bucket(v)
	if h.few[b]++; h.few[b] == 0 {
		h.many[b]++
	}
	if v > h.max {
		h.max = v
	}
}

// Snapshot returns what has been counted so far.
func (h *Histogram) Snapshot() (s Snapshot) {
	h.mu.Lock()
	s.counts, s.max = h.many, h.max
	for i, n := range h.few {
		s.counts[i] = s.counts[i]<<8 + uint64(n)
	}
	h.mu.Unlock()
	for _, n := range s.counts {
		s.count += n
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
