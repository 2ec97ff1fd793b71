package overtake_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

type windowed = overtake.Windowed[uint64, int64]

// windowJob counts numbers, whose event time they are themselves, by key and window.
func windowJob(opts overtake.Options, n, keys uint64, f *faulty, cut overtake.Windows, sink overtake.Sink[windowed]) *overtake.Job {
	job := overtake.NewJob("windows", opts)
	in := overtake.From(job, numbers(n), overtake.WithUID("numbers"))
	timed := overtake.AssignTimes(in, func(v uint64) int64 { return int64(v) }, time.Second)
	mixed := overtake.TryMap(timed.Rebalance(), func(_ *overtake.Context, v uint64) (uint64, error) {
		return v, f.pass()
	}, overtake.WithUID("mix"))
	counts := overtake.Window(overtake.KeyBy(mixed, func(v uint64) uint64 { return v % keys }), cut,
		overtake.Aggregator[uint64, int64, int64]{
			Add:    func(n *int64, _ uint64) { *n++ },
			Result: func(n *int64) int64 { return *n },
		}, overtake.WithUID("windows"))
	overtake.To(counts, sink, overtake.WithUID("sink"))
	return job
}

// wantWindows are the counts by window, computed plainly.
func wantWindows(n, keys uint64, cut overtake.Windows) map[windowed]int {
	counts := map[[3]int64]int64{}
	slide := cut.Slide
	if slide == 0 {
		slide = cut.Size
	}
	for v := range int64(n) {
		for start := v - v%slide; start > v-cut.Size; start -= slide {
			counts[[3]int64{v % int64(keys), start, start + cut.Size}]++
		}
	}
	want := map[windowed]int{}
	for w, c := range counts {
		want[windowed{Key: uint64(w[0]), Start: w[1], End: w[2], Value: c}] = 1
	}
	return want
}

func TestWindowsCountOnceWhateverFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, cut := range map[string]overtake.Windows{
		"tumbling": overtake.Tumbling(100 * time.Millisecond), "sliding": overtake.Sliding(100*time.Millisecond, 30*time.Millisecond),
	} {
		for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto} {
			for _, failures := range []int64{0, 6} {
				t.Run(fmt.Sprint(name, mode, failures), func(t *testing.T) {
					const n, keys = 20_000, 7
					seed := uint64(time.Now().UnixNano())
					t.Log("seed", seed)
					opts := small(3)
					opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: time.Millisecond, Mode: mode, AlignmentTimeout: time.Millisecond}
					opts.Restart = overtake.Restart{Attempts: 1000, Delay: time.Millisecond}
					var sink memory.Committed[windowed]
					if err := windowJob(opts, n, keys, newFaulty(seed, failures, n), cut, &sink).Run(context.Background()); err != nil {
						t.Fatal(err)
					}
					want := wantWindows(n, keys, cut)
					for _, w := range sink.Records() {
						want[w]--
					}
					wrong := 0
					for w, left := range want {
						if left != 0 && wrong < 5 {
							wrong++
							t.Errorf("%+v: %d times too few", w, left)
						}
					}
				})
			}
		}
	}
}

// Nothing follows the record that ends a window, and still its result comes.
func TestTheLastRecordBeforeAPauseEndsWindows(t *testing.T) {
	defer goleak.VerifyNone(t)
	values, results := make(chan uint64, 2), make(chan windowed, 2)
	job := overtake.NewJob("pause", overtake.Options{Parallelism: 1})
	timed := overtake.AssignTimes(overtake.From(job, memory.Channel(values)), func(v uint64) int64 { return int64(v) }, 0)
	counts := overtake.Window(overtake.KeyBy(timed, func(uint64) uint64 { return 7 }), overtake.Tumbling(time.Second),
		overtake.Aggregator[uint64, int64, int64]{
			Add:    func(n *int64, _ uint64) { *n++ },
			Result: func(n *int64) int64 { return *n },
		}, overtake.WithUID("windows"))
	overtake.To(counts, memory.Func(func(w windowed) error { results <- w; return nil }))
	h, err := job.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	values <- 0
	values <- 2000
	select {
	case w := <-results:
		if want := (windowed{Key: 7, Start: 0, End: 1000, Value: 1}); w != want {
			t.Errorf("got %v, want %v", w, want)
		}
	case <-time.After(10 * time.Second):
		t.Error("the window has not ended, though a later record came")
	}
	close(values)
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}
