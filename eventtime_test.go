package overtake_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

// counting counts the records of windows of a second, and passes the counts to f.
func counting(s overtake.Stream[uint64], f func(w windowed)) {
	countingTo(s, memory.Func(func(w windowed) error { f(w); return nil }))
}

func countingTo(s overtake.Stream[uint64], sink overtake.Sink[windowed]) {
	counts := overtake.Window(overtake.KeyBy(s, func(uint64) uint64 { return 7 }), overtake.Tumbling(time.Second),
		overtake.Aggregator[uint64, int64, int64]{
			Add:    func(n *int64, _ uint64) { *n++ },
			Result: func(n *int64) int64 { return *n },
		}, overtake.WithUID("windows"))
	overtake.To(counts, sink, overtake.WithUID("sink"))
}

func own(v uint64) int64 { return int64(v) }

// next waits for a result.
func next(t *testing.T, results <-chan windowed) (w windowed) {
	t.Helper()
	select {
	case w = <-results:
	case <-time.After(20 * time.Second):
		t.Fatal("no result comes")
	}
	return w
}

// Windows of two streams end though one of them says nothing: at first, and when it has said
// something. Its records count again when it comes back.
func TestAnIdleStreamHoldsNothingUp(t *testing.T) {
	defer goleak.VerifyNone(t)
	busy, silent, results := make(chan uint64), make(chan uint64), make(chan windowed, 10)
	job := overtake.NewJob("idle", overtake.Options{Parallelism: 1})
	timed := func(c chan uint64, o ...overtake.OpOption) overtake.Stream[uint64] {
		return overtake.AssignTimes(overtake.From(job, memory.Channel(c)), own, 0, o...)
	}
	counting(timed(busy).Union(timed(silent, overtake.IdleAfter(time.Millisecond))), func(w windowed) { results <- w })
	h, err := job.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := func(start, n int64) {
		t.Helper()
		if got := next(t, results); got != (windowed{Key: 7, Start: start, End: start + 1000, Value: n}) {
			t.Fatalf("got %v, want %d in the window from %d on", got, n, start)
		}
	}
	busy <- 10
	busy <- 1500
	want(0, 1)    // the silent one has never said anything
	silent <- 900 // too late, for it was idle
	silent <- 1600
	busy <- 2500
	busy <- 3500
	w := next(t, results) // 1600 may have come before 2500, or not
	if w.Start != 1000 || w.Value < 1 || w.Value > 2 {
		t.Fatalf("got %v", w)
	}
	want(2000, 1) // it is behind, and idle again
	silent <- 10_000
	close(silent)
	busy <- 9000
	want(3000, 1)
	close(busy)
	want(9000, 1)
	want(10_000, 1)
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}

// The results of windows get other event times, and fall in windows of those: each operator has the
// watermarks of the times that its records have.
func TestTimesAreAssignedAnewBehindWindows(t *testing.T) {
	defer goleak.VerifyNone(t)
	records, results := make(chan uint64), make(chan windowed, 10)
	job := overtake.NewJob("anew", overtake.Options{Parallelism: 1})
	firsts := overtake.Window(overtake.KeyBy(overtake.AssignTimes(overtake.From(job, memory.Channel(records)), own, 0), func(v uint64) uint64 { return v % 2 }),
		overtake.Tumbling(time.Second), overtake.Aggregator[uint64, uint64, uint64]{
			Add:    func(first *uint64, v uint64) { *first = v },
			Result: func(first *uint64) uint64 { return *first },
		}, overtake.WithUID("firsts"))
	minutes := overtake.Map(firsts, func(w overtake.Windowed[uint64, uint64]) uint64 { return w.Value * 60 })
	counting(overtake.AssignTimes(minutes, own, 0), func(w windowed) { results <- w })
	h, err := job.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []uint64{10, 11, 1000, 1001, 2000} {
		records <- v
	}
	if got := next(t, results); got != (windowed{Key: 7, Start: 0, End: 1000, Value: 2}) { // while the input goes on
		t.Fatalf("got %v", got)
	}
	close(records)
	for _, at := range []int64{60_000, 120_000} {
		want := windowed{Key: 7, Start: at, End: at + 1000, Value: 2 - (at-60_000)/60_000}
		if got := next(t, results); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}

// patient is a source of the numbers up to n-1. It has nothing to give at first, until it may.
type patient struct {
	n   uint64
	may *atomic.Bool
}

type patientReader struct {
	patient
	next uint64
}

// Open implements operators.Source.
func (p patient) Open(ctx operators.SourceContext) (operators.Reader[uint64], error) {
	r := &patientReader{patient: p}
	if len(ctx.Splits) > 0 {
		_, err := fmt.Sscan(string(ctx.Splits[0]), &r.next)
		return r, err
	}
	if ctx.Restored {
		r.next = p.n
	}
	return r, nil
}

// Read implements operators.Reader.
func (r *patientReader) Read(out *operators.Output[uint64]) (operators.Status, error) {
	for ; r.next < r.n; r.next++ {
		if !r.may.Load() {
			return operators.Idle, nil
		}
		if !out.Ready() {
			return operators.More, nil
		}
		out.Collect(r.next)
	}
	return operators.Ended, nil
}

// Splits implements operators.Reader.
func (r *patientReader) Splits(dst [][]byte) ([][]byte, error) {
	return append(dst, fmt.Append(nil, r.next)), nil
}

// SplitNumbers implements operators.SplitReader.
func (r *patientReader) SplitNumbers(dst []int) []int { return append(dst, 0) }

// Close implements operators.Reader.
func (r *patientReader) Close() error { return nil }

// A stream that was idle at a savepoint is idle in the job that goes on from it, at the same
// parallelism; and at another one soon again.
func TestAnIdleStreamIsIdleAfterARestart(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned} {
		for _, parallelism := range []int{2, 1} {
			t.Run(fmt.Sprint(mode, parallelism), func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "savepoint")
				start := func(parallelism, numbers int, from string, may *atomic.Bool) (*overtake.Handle, chan windowed) {
					results := make(chan windowed, 100)
					job := overtake.NewJob("idle", overtake.Options{
						Parallelism: parallelism, Checkpoints: overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: -1, Mode: mode, From: from},
					})
					in := overtake.From(job, patient{uint64(numbers), may}, overtake.WithUID("busy"), overtake.WithParallelism(1))
					silent := overtake.From(job, patient{1, new(atomic.Bool)}, overtake.WithUID("silent"))
					counting(overtake.AssignTimes(in, own, 0).Union(
						overtake.AssignTimes(silent, own, 0, overtake.IdleAfter(time.Millisecond)),
					), func(w windowed) {
						select {
						case results <- w:
						default: // nobody wants so many: the job must not be held up
						}
					})
					h, err := job.Start(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return h, results
				}
				may := new(atomic.Bool)
				may.Store(true)
				h, results := start(2, 1<<40, "", may)
				next(t, results)
				may.Store(false)
				if err := h.StopWithSavepoint(t.Context(), folder, false); err != nil {
					t.Fatal(err)
				}
				if err := h.Wait(); err != nil {
					t.Fatal(err)
				}
				may.Store(true)
				h, results = start(parallelism, 1<<40, folder, may)
				if w := next(t, results); w.Value != 1000 {
					t.Errorf("a window has %v, want 1000 records", w)
				}
				may.Store(false)
				if err := h.StopWithSavepoint(t.Context(), folder+"2", false); err != nil {
					t.Fatal(err)
				}
				if err := h.Wait(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// One subtask reads what three did, one after the other. Without a watermark for each, most of
// it would come too late.
func TestSplitsAreNotLateAfterOneAnother(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 30_000
	var values []uint64
	for v := range uint64(n) {
		values = append(values, v)
	}
	folder := filepath.Join(t.TempDir(), "savepoint")
	var sink memory.Committed[windowed]
	for attempt, parallelism := range []int{3, 1} {
		reached, seen := make(chan struct{}), atomic.Int64{}
		o := small(parallelism)
		o.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: -1}
		if attempt == 1 {
			o.Checkpoints.From = folder
		}
		job := overtake.NewJob("splits", o)
		in := overtake.From(job, memory.Slice(values...), overtake.WithUID("values"))
		slow := overtake.Map(overtake.AssignTimes(in, own, 0), func(v uint64) uint64 {
			if k := seen.Add(1); attempt == 0 && k >= n/10 {
				if k == n/10 {
					close(reached)
				}
				for begin := time.Now(); time.Since(begin) < 100*time.Microsecond; { // it would be over too soon
				}
			}
			return v
		}, overtake.WithUID("slow"))
		countingTo(slow, &sink)
		h, err := job.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if attempt == 0 {
			<-reached
			if err := h.StopWithSavepoint(t.Context(), folder, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[int64]int64{}
	for _, w := range sink.Records() {
		counts[w.Start] += w.Value
	}
	for start := int64(0); start < n; start += 1000 {
		if counts[start] != 1000 {
			t.Errorf("%d records in the window from %d on, want 1000", counts[start], start)
		}
	}
}

func TestIdleAfterMustNotBeNegative(t *testing.T) {
	job := overtake.NewJob("idle", overtake.Options{})
	overtake.To(overtake.AssignTimes(overtake.From(job, memory.Slice[uint64](1)), own, 0, overtake.IdleAfter(-1)), memory.Discard[uint64]())
	var wrong *overtake.BuildError
	if err := job.Run(t.Context()); !errors.As(err, &wrong) {
		t.Errorf("%v, want a BuildError", err)
	}
}
