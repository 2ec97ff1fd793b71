package overtake_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

type count = overtake.Pair[uint64, int64]

// faulty fails the job after some records, again and again.
type faulty struct {
	left  atomic.Int64 // records until the next failure
	times atomic.Int64 // failures to come
	rand  func() int64
}

var errFault = errors.New("injected")

func newFaulty(seed uint64, times int64, within int64) *faulty {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &faulty{rand: func() int64 { return 1 + r.Int64N(within) }}
	f.times.Store(times)
	f.left.Store(f.rand())
	return f
}

func (f *faulty) pass() error {
	if f.left.Add(-1) == 0 && f.times.Add(-1) >= 0 {
		f.left.Store(f.rand())
		return errFault
	}
	return nil
}

// countJob counts numbers by key, through several kinds of edges, and fails now and then.
func countJob(opts overtake.Options, n, keys uint64, f *faulty, sink overtake.Sink[count], slow func()) *overtake.Job {
	job := overtake.NewJob("count", opts)
	in := overtake.From(job, numbers(n), overtake.WithUID("numbers"))
	mixed := overtake.TryMap(in.Rebalance(), func(_ *overtake.Context, v uint64) (uint64, error) {
		return v, f.pass()
	}, overtake.WithUID("mix"))
	counts := overtake.Count(overtake.KeyBy(mixed, func(v uint64) uint64 { return v % keys }), overtake.WithUID("count"))
	spread := overtake.Map(counts.Rebalance(), func(c count) count {
		if slow != nil {
			slow()
		}
		return c
	}, overtake.WithUID("spread"))
	overtake.To(spread, sink, overtake.WithUID("sink"))
	return job
}

// verifyCounts checks that every count of every key was committed exactly once.
func verifyCounts(t *testing.T, got []count, n, keys uint64) {
	t.Helper()
	seen := map[count]int{}
	for _, c := range got {
		seen[c]++
	}
	var wrong []string
	for k := range keys {
		total := n / keys
		if k < n%keys {
			total++
		}
		for i := range total {
			c := count{Key: k, Value: int64(i) + 1}
			if seen[c] != 1 && len(wrong) < 5 {
				wrong = append(wrong, fmt.Sprintf("%v %d times", c, seen[c]))
			}
			delete(seen, c)
		}
	}
	for c := range seen {
		wrong = append(wrong, fmt.Sprintf("%v is too much", c))
	}
	if len(wrong) > 0 {
		t.Errorf("%d committed, want %d: %v", len(got), n, wrong[:min(len(wrong), 5)])
	}
}

type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) { l.t.Logf("%s", p); return len(p), nil }

func logTo(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

func TestEveryRecordCountsOnceWhateverFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto} {
		for _, p := range []int{1, 3} {
			t.Run(fmt.Sprint(mode, p), func(t *testing.T) {
				const n, keys = 20_000, 37
				seed := uint64(time.Now().UnixNano())
				t.Log("seed", seed)
				opts := small(p)
				opts.Log = logTo(t)
				opts.Checkpoints = overtake.Checkpoints{
					Store: checkpoint.NewMemory(), Interval: 2 * time.Millisecond, Mode: mode, MaxConcurrent: 3,
					AlignmentTimeout: time.Millisecond,
				}
				if p == 1 {
					opts.Network.Floating, opts.Network.Overdraft = -1, -1
				} else {
					opts.Checkpoints.LocalDir = t.TempDir()
				}
				opts.Restart = overtake.Restart{Attempts: 1000, Delay: time.Millisecond}
				var sink memory.Committed[count]
				f := newFaulty(seed, 6, n)
				job := countJob(opts, n, keys, f, &sink, nil)
				if err := job.Run(context.Background()); err != nil {
					t.Fatal(err)
				}
				verifyCounts(t, sink.Records(), n, keys)
				if sink.Prepared() != 0 {
					t.Errorf("%d transactions are left", sink.Prepared())
				}
			})
		}
	}
}

func TestStateOnDiskCountsOnceWhateverFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n, keys = 10_000, 37
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	opts := small(2)
	opts.StateDir = t.TempDir()
	opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 20 * time.Millisecond, Mode: overtake.Unaligned}
	opts.Restart = overtake.Restart{Attempts: 1000, Delay: time.Millisecond}
	var sink memory.Committed[count]
	if err := countJob(opts, n, keys, newFaulty(seed, 4, n), &sink, nil).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	verifyCounts(t, sink.Records(), n, keys)
	if left, err := os.ReadDir(opts.StateDir); err != nil || len(left) > 0 {
		t.Errorf("%v is left of the state, %v", left, err)
	}
}

// TestJobsGoOnAtAnotherParallelismAndMode kills a job again and again and goes on with
// another parallelism and mode, with records in flight on all kinds of edges.
func TestJobsGoOnAtAnotherParallelismAndMode(t *testing.T) {
	defer goleak.VerifyNone(t)
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	const n, keys = 300_000, 29
	store := checkpoint.NewMemory()
	var sink memory.Committed[count]
	inFlight := int64(0)
	for attempt := 0; ; attempt++ {
		opts := small(1 + r.IntN(7))
		opts.MaxParallelism = 64
		opts.Checkpoints = overtake.Checkpoints{
			Store: store, Interval: time.Millisecond, Mode: []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto}[r.IntN(3)],
			MaxConcurrent: 1 + r.IntN(3), AlignmentTimeout: time.Duration(r.IntN(3)) * time.Millisecond, TolerableFailures: 1000,
		}
		opts.Restart = overtake.Restart{Attempts: -1}
		job := countJob(opts, n, keys, newFaulty(seed, 0, 1), &sink, func() {
			if r := rand.IntN(2000); r == 0 {
				time.Sleep(time.Millisecond)
			}
		})
		ctx, cancel := context.WithCancel(context.Background())
		h, err := job.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if attempt < 25 {
			timer := time.AfterFunc(time.Duration(r.IntN(60))*time.Millisecond, cancel)
			defer timer.Stop()
		}
		err = h.Wait()
		for _, c := range h.Checkpoints() {
			inFlight += c.InFlight
		}
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	verifyCounts(t, sink.Records(), n, keys)
	t.Log("bytes in flight, captured:", inFlight)
	if inFlight == 0 {
		t.Error("no checkpoint captured records in flight")
	}
}

func TestSavepoints(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, mode := range []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned} {
		t.Run(mode.String(), func(t *testing.T) {
			const n, keys = 200_000, 11
			dir := t.TempDir()
			var sink memory.Committed[count]
			from := ""
			for round := range 4 {
				opts := small(1 + round)
				opts.MaxParallelism = 16
				opts.Log = logTo(t)
				opts.Checkpoints = overtake.Checkpoints{Dir: fmt.Sprint(dir, "/store", round), Interval: 5 * time.Millisecond, Mode: mode, From: from}
				slow := func() { // so that the job has not ended when it is stopped
					if round < 3 && rand.IntN(100) == 0 {
						time.Sleep(time.Millisecond)
					}
				}
				h, err := countJob(opts, n, keys, newFaulty(1, 0, 1), &sink, slow).Start(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if round == 3 {
					if err := h.Wait(); err != nil {
						t.Fatal(err)
					}
					break
				}
				extra := fmt.Sprint(dir, "/extra", round)
				if err := h.Savepoint(context.Background(), extra); err != nil {
					t.Fatal(err)
				}
				from = fmt.Sprint(dir, "/save", round)
				if err := h.StopWithSavepoint(context.Background(), from, false); err != nil {
					t.Fatal(err)
				}
				if err := h.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			verifyCounts(t, sink.Records(), n, keys)
		})
	}
}
