package nexmark

import (
	"sync"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// Output is where a query's result goes. It serves one run of a job; the zero Output is
// ready. Its result is exactly-once: it is taken back to the checkpoint when the job is.
type Output struct {
	Brief bool // hash texts by their length alone, which is cheaper
	// Latency, if set, gets the time from when the latest event that a row depends on was
	// due, in nanoseconds: the row's event time says which that was. It needs a Pace.
	Latency *perf.Histogram
	WarmUp  time.Duration // what was due in it at first has no latency
	Folder  string        // where a query that writes files (q10) does so: empty, or made; for others it is not needed

	gen   *Generator
	pace  Pace
	start *start

	mu struct {
		sync.Mutex
		result Result
		last   time.Time // when the last row came, to where nothing else was to do
	}
}

// Result is what subtasks that have ended found: after a job that has succeeded, all. For
// a query that writes files see Query.Result.
func (o *Output) Result() Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mu.result
}

// Took is how long it took from the start of the source to the last row. It is for a job
// that has ended.
func (o *Output) Took() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mu.last.Sub(o.start.time())
}

// late records the latency of a row with an event time.
func (o *Output) late(at int64) {
	due := o.pace.due(o.gen.First(at))
	if due >= o.WarmUp {
		o.Latency.Record(int64(time.Since(o.start.time()) - due))
	}
}

// sink writes a query's rows.
type sink[T any] struct {
	out *Output
	add func(t *Tally, v T)
}

// Open implements operators.Sink.
func (s sink[T]) Open(ctx *operators.Context) (operators.Writer[T], error) {
	return s.Resume(ctx, nil)
}

// Resume implements operators.ResumableSink.
func (s sink[T]) Resume(ctx *operators.Context, positions [][]byte) (operators.ResumableWriter[T], error) {
	w := &writer[T]{sink: s, ctx: ctx, tally: Tally{brief: s.out.Brief}}
	for _, b := range positions {
		if len(b) != 16 {
			return nil, ErrPosition
		}
		w.tally.sum = w.tally.sum.plus(Result{Rows: int64(le.Uint64(b)), Hash: le.Uint64(b[8:])})
	}
	return w, nil
}

type writer[T any] struct {
	sink[T]
	ctx   *operators.Context
	tally Tally
	fresh bool // rows have come since last
	last  time.Time
}

// Write implements operators.Writer.
func (w *writer[T]) Write(v T) error {
	w.add(&w.tally, v)
	w.fresh = true
	if w.out.Latency != nil && w.ctx.HasTime {
		w.out.late(w.ctx.Time)
	}
	return nil
}

// Position implements operators.ResumableWriter.
func (w *writer[T]) Position(dst []byte) ([]byte, error) {
	return le.AppendUint64(le.AppendUint64(dst, uint64(w.tally.sum.Rows)), w.tally.sum.Hash), nil
}

// Flush implements operators.Writer. It is called when there is nothing to do: so also
// while the end waits for the job's last checkpoint.
func (w *writer[T]) Flush() error {
	if w.fresh {
		w.last, w.fresh = time.Now(), false
	}
	return nil
}

// Close implements operators.Writer.
func (w *writer[T]) Close(ok bool) error {
	if !ok {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w.out.ended(w.tally.sum, w.last)
	return nil
}

// ended adds what a subtask has found, and when its last row came.
func (o *Output) ended(found Result, last time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.result = o.mu.result.plus(found)
	if last.After(o.mu.last) {
		o.mu.last = last
	}
}
