// Package jobtest runs whole jobs, for the tests of what jobs stand on.
package jobtest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

const records, keys = 20_000, 37

// CountsOnce runs a job whose records fail three times, and whose checkpoints are in a store that
// fails more often while faults are on: every count of every key is committed once. set turns
// the faults on or off, and says how many there have been.
func CountsOnce(t *testing.T, store checkpoint.Store, mode overtake.CheckpointMode, set func(on bool) int) {
	t.Helper()
	var sink memory.Committed[overtake.Pair[uint64, int64]]
	job := overtake.NewJob("count", overtake.Options{
		Parallelism: 2,
		Checkpoints: overtake.Checkpoints{Store: store, Interval: 2 * time.Millisecond, Mode: mode, MaxConcurrent: 2, TolerableFailures: 20},
		Restart:     overtake.Restart{Attempts: 100_000, Delay: time.Millisecond},
	})
	var passed, failures atomic.Int64
	in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: records, Rate: 4 * records}), overtake.WithUID("numbers"))
	mixed := overtake.TryMap(in.Rebalance(), func(_ *overtake.Context, v uint64) (uint64, error) {
		if passed.Add(1)%(records/3) == 0 && failures.Add(1) <= 3 {
			return 0, errors.New("injected")
		}
		return v, nil
	}, overtake.WithUID("mix"))
	counts := overtake.Count(overtake.KeyBy(mixed, func(v uint64) uint64 { return v % keys }), overtake.WithUID("count"))
	overtake.To(counts, &sink, overtake.WithUID("sink"))
	h, err := job.Start(t.Context()) // a job that cannot start says so, and does not try again
	if err != nil {
		t.Fatal(err)
	}
	set(true)
	err = h.Wait()
	if fired := set(false); err != nil || fired == 0 || failures.Load() < 3 {
		t.Fatalf("%v; %d faults, %d failures", err, fired, failures.Load())
	}
	verify(t, &sink)
}

func verify(t *testing.T, sink *memory.Committed[overtake.Pair[uint64, int64]]) {
	t.Helper()
	seen := map[overtake.Pair[uint64, int64]]int{}
	for _, c := range sink.Records() {
		seen[c]++
	}
	for n := range uint64(records) {
		if c := (overtake.Pair[uint64, int64]{Key: n % keys, Value: int64(n/keys) + 1}); seen[c] != 1 {
			t.Fatalf("%v was committed %d times", c, seen[c])
		}
	}
	if len(seen) != records || sink.Prepared() != 0 {
		t.Errorf("%d counts, want %d; %d transactions are left", len(seen), records, sink.Prepared())
	}
}
