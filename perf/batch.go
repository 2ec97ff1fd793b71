package perf

// batchSize is how many values a Batch holds: with their number, a cache line.
const batchSize = 7

// Batch holds values back from a Histogram and counts several at once: one lock for all of
// them, and their buckets, which lie far apart and which who moves data has in no cache, are
// fetched together. It is for one goroutine at a time; the zero Batch is empty.
//
// A reader misses what is still held back, unless it calls Flush first, under whatever keeps
// others from the Batch.
type Batch struct {
	n      int
	values [batchSize]int64
}

// Record is Histogram.Record of h, now or later. All values of a Batch must be for the same
// histogram.
func (b *Batch) Record(h *Histogram, v int64) {
	b.values[b.n] = v
	if b.n++; b.n == batchSize {
		b.flush(h)
	}
}

// Move gives what is held back to another Batch of the same histogram.
func (b *Batch) Move(to *Batch, h *Histogram) {
	for _, v := range b.values[:b.n] {
		to.Record(h, v)
	}
	b.n = 0
}

// Flush counts what is held back.
func (b *Batch) Flush(h *Histogram) {
	if b.n > 0 {
		b.flush(h)
	}
}

func (b *Batch) flush(h *Histogram) {
	h.mu.Lock()
	for _, v := range b.values[:b.n] {
		h.add(v)
	}
	h.mu.Unlock()
	b.n = 0
}
