package peers

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/operators"
)

// windows is a count of each key in each tumbling window.
type windows struct {
	o       overtake.Options
	records uint64
	keys    uint64
	size    time.Duration
	gap     float64   // nanoseconds of event time from one record to the next
	start   time.Time // when record 0 is due; zero: as fast as possible
}

// windowCount counts as fast as it can.
func windowCount(ctx context.Context, p Params, out func(Line)) error {
	w := windows{
		o: options(p), keys: uint64(p.Int("keys")), size: time.Duration(p.Int("window_ms")) * time.Millisecond,
		gap: 1e9 / float64(p.Int("event_rate")),
	}
	w.records = uint64(p.Int("records")) / 4
	if _, _, err := w.run(ctx); err != nil {
		return err
	}
	w.records = uint64(p.Int("records"))
	t, s, err := w.run(ctx)
	if err != nil {
		return err
	}
	s.rate(p.Int("records"), t.String(), settings(w.o), out)
	return nil
}

// windowLatency counts records that come at a rate, and times each result from the end of
// its window: that is when its last record was due.
func windowLatency(ctx context.Context, p Params, out func(Line)) error {
	w := windows{
		o: options(p), keys: uint64(p.Int("keys")), size: time.Duration(p.Int("window_ms")) * time.Millisecond,
		gap: float64(p.Int("gap_ns")),
	}
	for _, millis := range []int64{p.Int("warm_millis"), p.Int("millis")} {
		w.records = uint64(float64(millis) * 1e6 / w.gap)
		w.start = time.UnixMilli((time.Now().UnixMilli()/w.size.Milliseconds() + 1 + 500/w.size.Milliseconds()) * w.size.Milliseconds())
		t, _, err := w.run(ctx)
		if err != nil {
			return err
		}
		if millis == p.Int("millis") {
			t.print(settings(w.o), out)
		}
	}
	return nil
}

func (w windows) run(ctx context.Context) (*lateness, *started, error) {
	t, s := &lateness{windows: w}, &started{}
	job := overtake.NewJob("window", w.o)
	load := generate.Options{Count: w.records}
	at := func(n uint64) int64 { return int64(float64(n)*w.gap) / int64(time.Millisecond) }
	if !w.start.IsZero() {
		load.Rate, load.Start = 1e9/w.gap, w.start
		at = nil
	}
	numbers := overtake.From(job, generate.Source(func(n uint64) uint64 {
		if n == 0 {
			s.note()
		}
		return n
	}, load))
	keyed := overtake.KeyBy(overtake.AssignTimes(numbers, at, 0), func(n uint64) uint64 { return spread(n) % w.keys })
	counts := overtake.Window(keyed, overtake.Tumbling(w.size), overtake.Aggregator[uint64, int64, int64]{
		Add:    func(count *int64, _ uint64) { *count++ },
		Result: func(count *int64) int64 { return *count },
	}, overtake.WithUID("count"))
	overtake.To(counts, operators.Sink[overtake.Windowed[uint64, int64]](lateSink{t}))
	return t, s, job.Run(ctx)
}

// lateness is what the sinks have seen, and how late each result was.
type lateness struct {
	windows
	total
	mu    sync.Mutex
	nanos []int64
}

// print hands the percentiles to out, one figure each.
func (t *lateness) print(settings map[string]any, out func(Line)) {
	slices.Sort(t.nanos)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}, {"max", 1}} {
		i := int(math.Ceil(q.at*float64(len(t.nanos)))) - 1
		out(Line{Metric: q.name, Unit: "s", Value: float64(t.nanos[i]) / 1e9, Records: int64(len(t.nanos)),
			Check: t.String(), Settings: settings})
	}
}

type lateSink struct{ *lateness }

// Open implements operators.Sink.
func (s lateSink) Open(*operators.Context) (operators.Writer[overtake.Windowed[uint64, int64]], error) {
	w := &lateWriter{to: s.lateness}
	if !s.start.IsZero() {
		w.from = s.start.UnixMilli()
		w.last = s.start.UnixNano() + int64(float64(s.records-1)*s.gap)
	}
	return w, nil
}

// lateWriter belongs to one subtask.
type lateWriter struct {
	to *lateness
	share
	from  int64 // when the load begins, in Unix milliseconds; 0: not paced
	last  int64 // when its last record is due, in Unix nanoseconds
	nanos []int64
}

// Write implements operators.Writer.
func (w *lateWriter) Write(r overtake.Windowed[uint64, int64]) error {
	w.Records++
	w.Check += checked(r.Key, uint64(r.Value)) * uint64((r.Start-w.from)|1)
	due := r.End * int64(time.Millisecond)
	if w.from > 0 && due <= w.last { // the end of the input cuts the last one short
		w.nanos = append(w.nanos, time.Now().UnixNano()-due)
	}
	return nil
}

// Flush implements operators.Writer.
func (w *lateWriter) Flush() error { return nil }

// Close implements operators.Writer.
func (w *lateWriter) Close(bool) error {
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.nanos = append(w.to.nanos, w.nanos...)
	return w.to.add(w.share)
}
