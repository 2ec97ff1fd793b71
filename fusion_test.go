package overtake_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// fixedJob has a last operator of parallelism 1, whatever that of the job is. While slow
// is set, records pile up before it.
func fixedJob(opts overtake.Options, n uint64, slow *atomic.Bool, sink overtake.Sink[uint64], last string) *overtake.Job {
	one := overtake.WithParallelism(1)
	job := overtake.NewJob("fixed", opts)
	in := overtake.From(job, numbers(n), overtake.WithUID("numbers"))
	mixed := overtake.Map(in.Rebalance(), func(v uint64) uint64 { return v }, overtake.WithUID("mix"))
	out := overtake.Map(mixed, func(v uint64) uint64 {
		if slow.Load() {
			time.Sleep(time.Millisecond)
		}
		return v
	}, one, overtake.WithUID(last))
	overtake.To(out, sink, one, overtake.WithUID("sink"))
	return job
}

// TestRecordsInFlightSurviveAnEqualParallelism goes on with a parallelism at which two
// operators could be one, with records in flight between them.
func TestRecordsInFlightSurviveAnEqualParallelism(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 20_000
	opts := small(3)
	opts.Log = logTo(t)
	opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: -1, Mode: overtake.Unaligned}
	var sink memory.Committed[uint64]
	var slow atomic.Bool
	slow.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h, err := fixedJob(opts, n, &slow, &sink, "last").Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for inFlight := int64(0); inFlight < 10_000; {
		if _, err := h.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		all := h.Checkpoints()
		inFlight = all[len(all)-1].InFlight
	}
	cancel()
	if err := h.Wait(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	slow.Store(false)
	opts.Parallelism = 1
	opts.Restart = overtake.Restart{Attempts: -1}
	err = fixedJob(opts, n, &slow, &sink, "another").Run(context.Background())
	if !errors.Is(err, overtake.ErrRestore) {
		t.Errorf("%v, want an error: records were in flight to an operator that is no more", err)
	}
	if err := fixedJob(opts, n, &slow, &sink, "last").Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for _, v := range sink.Records() {
		seen[v]++
	}
	for v := range uint64(n) {
		if seen[v] != 1 {
			t.Fatalf("%d was committed %d times, and %d records altogether, want %d", v, seen[v], len(sink.Records()), n)
		}
	}
}
