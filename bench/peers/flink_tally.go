package peers

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// tally is what the sinks of one job have had, and when. Like the other side's.
type tally struct {
	start, end atomic.Int64 // from the first record of a source to the end of the last sink, in nanoseconds since base
	base       time.Time
	cpuStart   atomic.Int64 // of the processor time
	cpuEnd     atomic.Int64
	records    atomic.Int64
	hash       atomic.Uint64
	progress   atomic.Int64 // records so far, about
}

func newTally() *tally { return &tally{base: time.Now()} }

// begin notes that a source makes record n.
func (t *tally) begin(n uint64) {
	if n < parallelism && t.start.CompareAndSwap(0, int64(time.Since(t.base))) {
		t.cpuStart.Store(int64(cpuTime()))
	}
}

func (t *tally) add(records int64, hash uint64) {
	t.records.Add(records)
	t.hash.Add(hash)
	raise(&t.end, int64(time.Since(t.base)))
	raise(&t.cpuEnd, int64(cpuTime()))
}

func raise(a *atomic.Int64, to int64) {
	for last := a.Load(); last < to && !a.CompareAndSwap(last, to); last = a.Load() {
	}
}

// cpu is the processor time of a record, in seconds.
func (t *tally) cpu() float64 {
	return float64(t.cpuEnd.Load()-t.cpuStart.Load()) / 1e9 / max(1, float64(t.records.Load()))
}

func (t *tally) seconds() float64 { return float64(t.end.Load()-t.start.Load()) / 1e9 }

func (t *tally) check() string { return fmt.Sprintf("%x", t.hash.Load()) }

// rate is the figure of the records per second.
func (t *tally) rate(metric string) Line {
	n := t.records.Load()
	return Line{Metric: metric, Unit: "records/s", Value: float64(n) / t.seconds(), Records: n, Check: t.check()}
}

// mix is a hash of a number: the same function is on the other side.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tallySink counts records and adds up their hashes.
type tallySink[T any] struct {
	to   *tally
	hash func(v T) uint64
}

// Open implements operators.Sink.
func (s tallySink[T]) Open(*operators.Context) (operators.Writer[T], error) {
	return &tallyWriter[T]{tallySink: s}, nil
}

// tallyWriter belongs to one subtask.
type tallyWriter[T any] struct {
	tallySink[T]
	records, told int64
	sum           uint64
}

// Write implements operators.Writer.
func (w *tallyWriter[T]) Write(v T) error {
	w.records++
	w.sum += w.hash(v)
	if w.records-w.told == 1024 {
		w.to.progress.Add(1024)
		w.told = w.records
	}
	return nil
}

// Flush implements operators.Writer.
func (w *tallyWriter[T]) Flush() error { return nil }

// Close implements operators.Writer.
func (w *tallyWriter[T]) Close(ok bool) error {
	if ok {
		w.to.add(w.records, w.sum)
	}
	return nil
}
