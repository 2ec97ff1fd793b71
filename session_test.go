package overtake_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

// counted counts records, in windows that merge or not.
var counted = overtake.Aggregator[uint64, int64, int64]{
	Add:    func(n *int64, _ uint64) { *n++ },
	Merge:  func(n, later *int64) { *n += *later },
	Result: func(n *int64) int64 { return *n },
}

// sessionTime lets the numbers of each key come in groups, with pauses between them.
func sessionTime(v uint64) int64 { return int64(v + v/700*50) }

const (
	sessionKeys = 7
	sessionGap  = 30
)

// sessionJob counts numbers by key and session.
func sessionJob(opts overtake.Options, n uint64, f *faulty, sink overtake.Sink[windowed]) *overtake.Job {
	job := overtake.NewJob("sessions", opts)
	in := overtake.From(job, numbers(n), overtake.WithUID("numbers"))
	timed := overtake.AssignTimes(in, sessionTime, time.Second)
	mixed := overtake.TryMap(timed.Rebalance(), func(_ *overtake.Context, v uint64) (uint64, error) {
		return v, f.pass()
	}, overtake.WithUID("mix"))
	sessions := overtake.Window(overtake.KeyBy(mixed, func(v uint64) uint64 { return v % sessionKeys }),
		overtake.Session(sessionGap*time.Millisecond), counted, overtake.WithUID("sessions"))
	overtake.To(sessions, sink, overtake.WithUID("sink"))
	return job
}

// wantSessions are the sessions, computed plainly.
func wantSessions(n uint64) map[windowed]int {
	want := map[windowed]int{}
	for key := range uint64(sessionKeys) {
		var s windowed
		for v := key; v < n; v += sessionKeys {
			at := sessionTime(v)
			if s.Value > 0 && at >= s.End {
				want[s]++
				s = windowed{}
			}
			if s.Value == 0 {
				s = windowed{Key: key, Start: at}
			}
			s.End = at + sessionGap
			s.Value++
		}
		want[s]++
	}
	return want
}

func verifySessions(t *testing.T, records []windowed, n uint64) {
	t.Helper()
	got, want := map[windowed]int{}, wantSessions(n)
	for _, w := range records {
		got[w]++
	}
	if len(want) < 2*sessionKeys {
		t.Fatal("there are too few sessions to test anything")
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %d sessions, want %d", len(got), len(want))
		for _, w := range slices.SortedFunc(maps.Keys(want), func(a, b windowed) int { return int(a.Start - b.Start) }) {
			if got[w] != want[w] {
				t.Fatalf("%+v is there %d times, want %d", w, got[w], want[w])
			}
		}
	}
}

func TestSessionsCountOnceWhateverFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, disk := range []bool{false, true} {
		for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto} {
			t.Run(fmt.Sprint(mode, disk), func(t *testing.T) {
				n := uint64(20_000)
				seed := uint64(time.Now().UnixNano())
				t.Log("seed", seed)
				opts := small(3)
				opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: time.Millisecond, Mode: mode, AlignmentTimeout: time.Millisecond}
				opts.Restart = overtake.Restart{Attempts: 1000, Delay: time.Millisecond}
				if disk { // which is slow
					n, opts.StateDir, opts.Checkpoints.Interval = 3000, t.TempDir(), 5*time.Millisecond
				}
				var sink memory.Committed[windowed]
				if err := sessionJob(opts, n, newFaulty(seed, 3, int64(n)), &sink).Run(context.Background()); err != nil {
					t.Fatal(err)
				}
				verifySessions(t, sink.Records(), n)
			})
		}
	}
}

// Sessions go on where they were, at another parallelism.
func TestSessionsGoOnAtAnotherParallelism(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 100_000
	dir, from := t.TempDir(), ""
	var sink memory.Committed[windowed]
	for round := range 3 {
		opts := small(3 - round)
		opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 5 * time.Millisecond, Mode: overtake.Unaligned, From: from}
		h, err := sessionJob(opts, n, newFaulty(1, 0, 1), &sink).Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if round < 2 {
			from = fmt.Sprint(dir, "/", round)
			if err := h.StopWithSavepoint(context.Background(), from, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	verifySessions(t, sink.Records(), n)
}

// What is wrong with windows is said when the job is built.
func TestWindowsThatCannotBe(t *testing.T) {
	unmerged := counted
	unmerged.Merge = nil
	for name, bad := range map[string]struct {
		cut overtake.Windows
		agg overtake.Aggregator[uint64, int64, int64]
		is  error
	}{
		"no Merge":    {overtake.Session(time.Second), unmerged, operators.ErrMerge},
		"no gap":      {overtake.Session(0), counted, nil},
		"no size":     {overtake.Tumbling(0).ProcessingTime(), counted, nil},
		"long slide":  {overtake.Sliding(1, 2).ProcessingTime(), counted, nil},
		"gap, size":   {overtake.Windows{Gap: 1, Size: 1}, counted, nil},
		"no Merge, 2": {overtake.Session(time.Second).ProcessingTime(), unmerged, operators.ErrMerge},
	} {
		job := overtake.NewJob("bad", overtake.Options{})
		in := overtake.KeyBy(overtake.From(job, memory.Slice[uint64](1)), own2)
		overtake.To(overtake.Window(in, bad.cut, bad.agg, overtake.WithUID("w")), memory.Discard[windowed]())
		var wrong *overtake.BuildError
		err := job.Run(t.Context())
		if !errors.As(err, &wrong) || bad.is != nil && !errors.Is(err, bad.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	job := overtake.NewJob("fine", overtake.Options{}) // others need no Merge
	in := overtake.KeyBy(overtake.From(job, memory.Slice[uint64](1)), own2)
	overtake.To(overtake.Window(in, overtake.Tumbling(time.Second).ProcessingTime(), unmerged, overtake.WithUID("w")), memory.Discard[windowed]())
	if err := job.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func own2(v uint64) uint64 { return v }
