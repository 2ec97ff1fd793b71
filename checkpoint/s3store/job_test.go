package s3store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// TestJobsCountOnceWhateverTheBucketDoes runs jobs whose records fail now and then, and whose
// requests fail more often: every count of every key is committed once.
func TestJobsCountOnceWhateverTheBucketDoes(t *testing.T) {
	modes := []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto}
	for i, kind := range append([]fault{none, none, none}, kinds...) { // none: all kinds in turn
		mode := modes[i%len(modes)]
		t.Run(fmt.Sprint(mode, " fault ", kind), func(t *testing.T) { bucketJob(t, mode, kind) })
	}
}

const bucketRecords, bucketKeys = 20_000, 37

func bucketJob(t *testing.T, mode overtake.CheckpointMode, kind fault) {
	rng := rand.New(rand.NewPCG(uint64(kind), uint64(len(fmt.Sprint(mode)))))
	f, client := newFake(t)
	o := options()
	o.Attempts, o.Timeout = 2, 30*time.Millisecond
	store := mustOpen(t, client, o)
	faults := 0
	f.fail(func(int, *http.Request) fault { // it is called one at a time
		if rng.IntN(10) > 0 {
			return none
		}
		faults++
		if kind == none {
			return kinds[rng.IntN(len(kinds))]
		}
		return kind
	})
	var sink memory.Committed[overtake.Pair[uint64, int64]]
	job := overtake.NewJob("count", overtake.Options{
		Parallelism: 2,
		Checkpoints: overtake.Checkpoints{Store: store, Interval: 2 * time.Millisecond, Mode: mode, MaxConcurrent: 2, TolerableFailures: 1000},
		Restart:     overtake.Restart{Attempts: 1000, Delay: time.Millisecond},
	})
	var passed, failures atomic.Int64
	in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: bucketRecords, Rate: 100_000}), overtake.WithUID("numbers"))
	mixed := overtake.TryMap(in.Rebalance(), func(_ *overtake.Context, v uint64) (uint64, error) {
		if passed.Add(1)%6000 == 0 && failures.Add(1) <= 3 {
			return 0, errors.New("injected")
		}
		return v, nil
	}, overtake.WithUID("mix"))
	counts := overtake.Count(overtake.KeyBy(mixed, func(v uint64) uint64 { return v % bucketKeys }), overtake.WithUID("count"))
	overtake.To(counts, &sink, overtake.WithUID("sink"))
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if faults == 0 || failures.Load() < 3 {
		t.Errorf("%d faults, %d failures", faults, failures.Load())
	}
	seen := map[overtake.Pair[uint64, int64]]int{}
	for _, c := range sink.Records() {
		seen[c]++
	}
	for n := range uint64(bucketRecords) {
		c := overtake.Pair[uint64, int64]{Key: n % bucketKeys, Value: int64(n/bucketKeys) + 1}
		if seen[c] != 1 {
			t.Fatalf("%v was committed %d times", c, seen[c])
		}
	}
	if len(seen) != bucketRecords || sink.Prepared() != 0 {
		t.Errorf("%d counts, want %d; %d transactions are left", len(seen), bucketRecords, sink.Prepared())
	}
}
