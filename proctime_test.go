package overtake_test

import (
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

// handClock is a clock that is set by hand, in Unix milliseconds.
type handClock struct{ at atomic.Int64 }

func (c *handClock) now() time.Time { return time.UnixMilli(c.at.Load()) }

// Windows of processing time end as the clock says, though no record comes; what is open at
// the end of the input ends with it.
func TestWindowsOfProcessingTimeEndAsTheClockSays(t *testing.T) {
	defer goleak.VerifyNone(t)
	var clock handClock
	values, taken, results := make(chan uint64), make(chan uint64), make(chan windowed, 10)
	gather := counted
	gather.Add = func(n *int64, v uint64) { *n++; taken <- v }
	job := overtake.NewJob("processing", overtake.Options{Parallelism: 1, Clock: clock.now})
	in := overtake.KeyBy(overtake.From(job, memory.Channel(values)), func(uint64) uint64 { return 7 })
	for i, cut := range []overtake.Windows{overtake.Tumbling(time.Second), overtake.Session(time.Second)} {
		counts := overtake.Window(in, cut.ProcessingTime(), gather, overtake.WithUID(fmt.Sprint("windows", i)))
		overtake.To(counts, memory.Func(func(w windowed) error { results <- w; return nil }))
	}
	h, err := job.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send := func(at int64, v uint64) {
		clock.at.Store(at)
		values <- v
		for range 2 { // windows
			<-taken
		}
	}
	want := func(list ...windowed) {
		t.Helper()
		left := map[windowed]bool{}
		for _, w := range list {
			left[w] = true
		}
		for range list {
			if w := next(t, results); !left[w] {
				t.Fatalf("got %v, want %v", w, list)
			} else {
				delete(left, w)
			}
		}
	}
	send(1100, 1)
	send(1900, 2)
	clock.at.Store(2000)
	want(windowed{Key: 7, Start: 1000, End: 2000, Value: 2})
	send(2400, 3)
	clock.at.Store(9000)
	want(windowed{Key: 7, Start: 2000, End: 3000, Value: 1}, windowed{Key: 7, Start: 1100, End: 3400, Value: 3})
	send(9500, 4)
	close(values)
	want(windowed{Key: 7, Start: 9000, End: 10_000, Value: 1}, windowed{Key: 7, Start: 9500, End: 10_500, Value: 1})
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
	if len(results) > 0 {
		t.Errorf("more has come: %v", <-results)
	}
}

// reminder sets a timer for each record: after a while, or if that is 0, after 30 s if it is
// even, and 60 s if it is odd.
type reminder struct {
	ctx   *overtake.KeyedContext
	after int64
	taken func() // called for each record; may be nil
}

// Open implements overtake.Processor.
func (r *reminder) Open(ctx *overtake.KeyedContext) error { r.ctx = ctx; return nil }

// Process implements overtake.Processor.
func (r *reminder) Process(_, v uint64, _ overtake.Collector[uint64]) error {
	if r.taken != nil {
		defer r.taken()
	}
	if r.after == 0 {
		return r.ctx.SetProcessingTimer(r.ctx.ProcessingTime() + 30_000*(1+int64(v%2)))
	}
	return r.ctx.SetProcessingTimer(r.ctx.ProcessingTime() + r.after)
}

// OnProcessingTimer implements overtake.ProcessingTimerProcessor.
func (r *reminder) OnProcessingTimer(key uint64, _ int64, out overtake.Collector[uint64]) error {
	out.Collect(key)
	return nil
}

// A subtask that waits for input is woken by its timers, on the computer's clock.
func TestTimersWakeASubtask(t *testing.T) {
	defer goleak.VerifyNone(t)
	values, results := make(chan uint64, 1), make(chan uint64, 10)
	job := overtake.NewJob("reminder", overtake.Options{Parallelism: 1})
	in := overtake.KeyBy(overtake.From(job, memory.Channel(values)), own2)
	out := overtake.Process(in, func() overtake.Processor[uint64, uint64, uint64] { return &reminder{after: 20} }, overtake.WithUID("reminder"))
	overtake.To(out, memory.Func(func(v uint64) error { results <- v; return nil }))
	h, err := job.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	values <- 42
	select {
	case v := <-results:
		if took := time.Since(began); v != 42 || took < 19*time.Millisecond {
			t.Errorf("%d has come after %v", v, took)
		}
	case <-time.After(20 * time.Second):
		t.Error("no timer has fired")
	}
	close(values)
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}

// held is a source of the numbers up to n-1, which then has nothing for now.
type held struct{ n uint64 }

type heldReader struct {
	held
	next uint64
}

// Open implements operators.Source.
func (s held) Open(ctx operators.SourceContext) (operators.Reader[uint64], error) {
	r := &heldReader{held: s}
	if len(ctx.Splits) > 0 {
		_, err := fmt.Sscan(string(ctx.Splits[0]), &r.next)
		return r, err
	}
	return r, nil
}

// Read implements operators.Reader.
func (r *heldReader) Read(out *operators.Output[uint64]) (operators.Status, error) {
	for ; r.next < r.n; r.next++ {
		if !out.Ready() {
			return operators.More, nil
		}
		out.Collect(r.next)
	}
	return operators.Idle, nil
}

// Splits implements operators.Reader.
func (r *heldReader) Splits(dst [][]byte) ([][]byte, error) {
	return append(dst, fmt.Append(nil, r.next)), nil
}

// Close implements operators.Reader.
func (r *heldReader) Close() error { return nil }

// Timers that have become due while the job was stopped fire after its restart, at any
// parallelism; others when they are due, or the input ends.
func TestTimersThatAreOverdueFireAfterARestart(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 60
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned} {
		for _, disk := range []bool{false, true} {
			for parallelism := 1; parallelism <= 3; parallelism++ {
				var clock handClock
				clock.at.Store(1_000_000)
				folder := filepath.Join(t.TempDir(), "savepoint")
				start := func(parallelism int, from string, taken func()) (*overtake.Handle, chan uint64) {
					results := make(chan uint64, 2*n)
					opts := small(parallelism)
					opts.Clock = clock.now
					opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: -1, Mode: mode, From: from}
					if disk {
						opts.StateDir = t.TempDir()
					}
					job := overtake.NewJob("overdue", opts)
					in := overtake.From(job, held{n}, overtake.WithUID("in"), overtake.WithParallelism(1))
					out := overtake.Process(overtake.KeyBy(in, own2), func() overtake.Processor[uint64, uint64, uint64] { return &reminder{taken: taken} }, overtake.WithUID("reminder"))
					overtake.To(out, memory.Func(func(v uint64) error { results <- v; return nil }), overtake.WithUID("out"))
					h, err := job.Start(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return h, results
				}
				all := make(chan struct{}, n)
				h, early := start(2, "", func() { all <- struct{}{} })
				for range n {
					<-all
				}
				if err := h.StopWithSavepoint(t.Context(), folder, false); err != nil {
					t.Fatal(err)
				}
				if err := h.Wait(); err != nil {
					t.Fatal(err)
				}
				clock.at.Add(45_000)
				h, late := start(parallelism, folder, nil)
				got := map[uint64]int{}
				for range n / 2 {
					select {
					case v := <-late:
						got[v]++
					case <-time.After(20 * time.Second):
						t.Fatalf("%d timers have fired, want %d", len(got), n/2)
					}
				}
				for v := range uint64(n) {
					if want := int(1 - v%2); got[v] != want {
						t.Errorf("the timer of %d has fired %d times, want %d", v, got[v], want)
					}
				}
				h.Drain()
				if err := h.Wait(); err != nil {
					t.Fatal(err)
				}
				if len(early) != 0 || len(late) != n/2 {
					t.Errorf("%d timers have fired before the restart, %d at the end, want none and %d", len(early), len(late), n/2)
				}
			}
		}
	}
}
