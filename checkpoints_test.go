package overtake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

func TestChannelsAreRefusedWithCheckpoints(t *testing.T) {
	defer goleak.VerifyNone(t)
	job := overtake.NewJob("channel", overtake.Options{Checkpoints: overtake.Checkpoints{Store: checkpoint.NewMemory()}})
	overtake.To(overtake.From(job, memory.Channel(make(chan int))), memory.Discard[int]())
	if err := job.Run(context.Background()); !errors.Is(err, memory.ErrUnreplayable) {
		t.Fatalf("%v, want %v", err, memory.ErrUnreplayable)
	}
}

// store returns a store with one complete checkpoint of countJob with these options.
func storeWith(t *testing.T, opts overtake.Options) checkpoint.Store {
	t.Helper()
	store := checkpoint.NewMemory()
	opts.Checkpoints = overtake.Checkpoints{Store: store, Interval: -1}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var sink memory.Committed[count]
	h, err := countJob(opts, 100_000_000, 10, newFaulty(1, 0, 1), &sink, nil).Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for len(sink.Records()) < 100 { // so that there is state
		if _, err := h.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := h.Wait(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return store
}

func TestACheckpointThatDoesNotFitIsRefused(t *testing.T) {
	defer goleak.VerifyNone(t)
	store := storeWith(t, small(2))
	other := func(change func(*overtake.Options), uid string) error {
		opts := small(2)
		opts.Checkpoints = overtake.Checkpoints{Store: store}
		change(&opts)
		job := overtake.NewJob("count", opts)
		in := overtake.From(job, numbers(10), overtake.WithUID("numbers"))
		counts := overtake.Aggregate(overtake.KeyBy(in, func(v uint64) uint64 { return v % 10 }), overtake.Aggregator[uint64, int32, int32]{
			Add:    func(n *int32, _ uint64) { *n++ },
			Result: func(n *int32) int32 { return *n },
		}, overtake.WithUID(uid))
		overtake.To(counts, memory.Discard[overtake.Pair[uint64, int32]](), overtake.WithUID("sink"))
		return job.Run(context.Background())
	}
	for name, c := range map[string]struct {
		change func(*overtake.Options)
		uid    string
		want   error
		text   string
	}{
		"key groups": {func(o *overtake.Options) { o.MaxParallelism = 4 }, "count", overtake.ErrRestore, "set it to 128"},
		"UID":        {func(*overtake.Options) {}, "counts", overtake.ErrRestore, `"count"`},
		"layout": {func(o *overtake.Options) { o.Checkpoints.AllowNonRestored = true }, "count",
			overtake.ErrLayout, "was key uint64, accumulator int64, is now key uint64, accumulator int32"},
	} {
		t.Run(name, func(t *testing.T) {
			err := other(c.change, c.uid)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %v with %q", err, c.want, c.text)
			}
		})
	}
	t.Run("allowed", func(t *testing.T) {
		if err := other(func(o *overtake.Options) { o.Checkpoints.AllowNonRestored = true }, "counts"); err != nil {
			t.Error(err)
		}
	})
}

func TestRestartsEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	opts := small(1)
	opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory()}
	opts.Restart = overtake.Restart{Attempts: 2, Delay: time.Millisecond}
	h, err := countJob(opts, 1000, 10, newFaulty(1, 100, 10), &memory.Committed[count]{}, nil).Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); !errors.Is(err, errFault) {
		t.Errorf("%v, want %v", err, errFault)
	}
	if h.Restarts() != 2 {
		t.Errorf("%d restarts, want 2", h.Restarts())
	}
}

func TestStateIsMigrated(t *testing.T) {
	defer goleak.VerifyNone(t)
	opts := small(2)
	store := storeWith(t, opts)
	opts.Parallelism = 3
	opts.Checkpoints = overtake.Checkpoints{Store: store, AllowNonRestored: true}
	type sum struct{ Count, Twice int64 }
	job := overtake.NewJob("count", opts)
	in := overtake.From(job, numbers(10), overtake.WithUID("new numbers"))
	counts := overtake.Aggregate(overtake.KeyBy(in, func(v uint64) uint64 { return v % 10 }), overtake.Aggregator[uint64, sum, sum]{
		Add:    func(s *sum, _ uint64) { s.Count++; s.Twice += 2 },
		Result: func(s *sum) sum { return *s },
	}, overtake.WithUID("count"), overtake.FinalOnly(), overtake.WithMigration(func(old int64) sum { return sum{old, 2 * old} }))
	var list memory.List[overtake.Pair[uint64, sum]]
	overtake.To(counts, &list, overtake.WithUID("new sink"))
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, p := range list.Values() {
		if p.Value.Twice != 2*p.Value.Count {
			t.Errorf("%+v", p)
		}
		total += p.Value.Count
	}
	if len(list.Values()) != 10 || total <= 10 {
		t.Errorf("%d keys with %d records: nothing was restored", len(list.Values()), total)
	}
}
