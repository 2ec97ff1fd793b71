package overtake_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// TestACheckpointDoesNotWaitForARecordInTheMaking holds a sink in the middle of a record,
// for as long as several checkpoints take, and restores the last of them.
func TestACheckpointDoesNotWaitForARecordInTheMaking(t *testing.T) {
	defer goleak.VerifyNone(t)
	store := checkpoint.NewMemory()
	const n = 2000
	build := func(sink func(uint64) error) *overtake.Job {
		opts := small(2)
		opts.Checkpoints = overtake.Checkpoints{Store: store, Interval: -1, Mode: overtake.Unaligned, Timeout: 20 * time.Second}
		opts.Restart = overtake.Restart{Attempts: -1}
		job := overtake.NewJob("held", opts)
		in := overtake.From(job, numbers(n), overtake.WithUID("numbers"))
		overtake.To(in.Rebalance(), memory.Func(sink), overtake.WithUID("sink"), overtake.WithParallelism(1))
		return job
	}
	held, goOn := make(chan uint64, 1), make(chan struct{})
	slow := 0
	var first []uint64
	ctx, cancel := context.WithCancel(context.Background())
	h, err := build(func(v uint64) error {
		first = append(first, v)
		if slow++; slow <= 20 {
			time.Sleep(time.Millisecond) // so that it is known to be slow
		} else if slow == 21 {
			held <- v
			<-goOn
		}
		return nil
	}).Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	inTheMaking := <-held
	for range 3 {
		if _, err := h.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	before := first[:20:20]
	cancel()
	close(goOn)
	if err := h.Wait(); err == nil {
		t.Fatal("the job has ended")
	}
	var rest []uint64
	if err := build(func(v uint64) error { rest = append(rest, v); return nil }).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for _, v := range append(before, rest...) {
		seen[v]++
	}
	for v := range uint64(n) {
		if seen[v] != 1 {
			t.Errorf("%d was processed %d times, but for what the cancelled attempt did after the checkpoint", v, seen[v])
			break
		}
	}
	if len(rest) != n-20 || !slices.Contains(rest, inTheMaking) {
		t.Errorf("%d records after the restore, without %d, the one in the making", len(rest), inTheMaking)
	}
}
