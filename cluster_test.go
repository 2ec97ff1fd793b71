package overtake_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// workers runs a job as so many workers of this process, over Unix sockets, and
// returns their errors.
func workers(t *testing.T, n int, run func(index int, opts overtake.Options) error) []error {
	t.Helper()
	dir := t.TempDir()
	var addresses []string
	for i := range n {
		addresses = append(addresses, filepath.Join(dir, fmt.Sprint(i)))
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			opts := small(4)
			opts.Network.Memory = 4 << 20
			opts.Cluster = overtake.Cluster{Workers: addresses, Index: i, Network: "unix", ConnectTimeout: 20 * time.Second}
			errs[i] = run(i, opts)
		})
	}
	all.Wait()
	return errs
}

func TestWorkersCountTogether(t *testing.T) {
	defer goleak.VerifyNone(t)
	lines := words(20_000)
	for _, n := range []int{2, 3} {
		var list memory.List[overtake.Pair[string, int64]]
		errs := workers(t, n, func(_ int, opts overtake.Options) error {
			job := overtake.NewJob("wordcount", opts)
			wordCount(job, lines, &list)
			return job.Run(context.Background())
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, pair := range list.Values() {
			got = append(got, fmt.Sprint(pair.Key, " ", pair.Value))
		}
		slices.Sort(got)
		if diff := cmp.Diff(countWords(lines), got); diff != "" {
			t.Fatalf("%d workers: %s", n, diff)
		}
	}
}

func TestPatternsAcrossWorkers(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 3000
	var list memory.List[string]
	errs := workers(t, 2, func(_ int, opts overtake.Options) error {
		job := overtake.NewJob("patterns", opts)
		in := overtake.From(job, numbers(n))
		text := func(name string) func(uint64) string {
			return func(v uint64) string { return fmt.Sprint(name, " ", v) + strings.Repeat(".", int(v%700)) }
		}
		large := overtake.Map(in.Rebalance(), text("large"), overtake.WithParallelism(3))
		scaled := overtake.Map(in.Rescale(), text("scaled"), overtake.WithParallelism(2))
		all := overtake.Map(in.Broadcast(), text("all"), overtake.WithParallelism(2))
		overtake.To(large.Union(scaled, all).Rebalance(), &list)
		return job.Run(context.Background())
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, s := range list.Values() {
		counts[strings.Fields(s)[0]]++
	}
	if diff := cmp.Diff(map[string]int{"large": n, "scaled": n, "all": 2 * n}, counts); diff != "" {
		t.Fatal(diff)
	}
}

func TestAFailureStopsAllWorkers(t *testing.T) {
	defer goleak.VerifyNone(t)
	boom := errors.New("boom")
	errs := workers(t, 2, func(index int, opts overtake.Options) error {
		job := overtake.NewJob("failing", opts)
		in := overtake.From(job, numbers(generate.Forever))
		checked := overtake.TryMap(in.Rebalance(), func(ctx *overtake.Context, v uint64) (uint64, error) {
			if index == 1 && v > 10_000 {
				return 0, boom
			}
			return v, nil
		}, overtake.WithName("check"))
		overtake.To(checked.Rebalance(), memory.Discard[uint64]())
		return job.Run(context.Background())
	})
	if !errors.Is(errs[1], boom) {
		t.Errorf("worker 1: %v, want %v", errs[1], boom)
	}
	if !errors.Is(errs[0], overtake.ErrPeer) || !strings.Contains(errs[0].Error(), "boom") {
		t.Errorf("worker 0: %v, want the failure of worker 1", errs[0])
	}
}

func TestWorkersWithDifferentJobsRefuseEachOther(t *testing.T) {
	defer goleak.VerifyNone(t)
	errs := workers(t, 2, func(index int, opts overtake.Options) error {
		opts.Cluster.ConnectTimeout = time.Second
		job := overtake.NewJob("same name", opts)
		in := overtake.From(job, numbers(10))
		if index == 1 {
			in = in.Filter(func(uint64) bool { return true })
		}
		overtake.To(in.Rebalance(), memory.Discard[uint64]())
		return job.Run(context.Background())
	})
	for i, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "graph") {
			t.Errorf("worker %d: %v, want a word about the graph", i, err)
		}
	}
}

func TestDrainLosesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	sent := make([]uint64, 2)
	var mu sync.Mutex
	received := 0
	errs := workers(t, 2, func(index int, opts overtake.Options) error {
		job := overtake.NewJob("drain", opts)
		in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: generate.Forever}), overtake.WithParallelism(2))
		counted := overtake.Map(in, func(v uint64) uint64 { sent[index]++; return v }, overtake.WithParallelism(2))
		overtake.To(counted.Rebalance(), memory.Func(func(uint64) error {
			mu.Lock()
			defer mu.Unlock()
			received++
			return nil
		}), overtake.WithParallelism(3))
		h, err := job.Start(context.Background())
		if err != nil {
			return err
		}
		if index == 1 {
			for h.Stats()[0].Records < 1000 {
				time.Sleep(time.Millisecond)
			}
			h.Drain()
		}
		return h.Wait()
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if total := int(sent[0] + sent[1]); received != total || total == 0 {
		t.Fatalf("received %d of %d", received, total)
	}
}

func TestCancelStopsAtOnceAndLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(context.Background())
	errs := workers(t, 2, func(index int, opts overtake.Options) error {
		job := overtake.NewJob("cancel", opts)
		overtake.To(overtake.From(job, numbers(generate.Forever)).Rebalance(), memory.Func(func(uint64) error {
			cancel()
			return nil
		}))
		return job.Run(ctx)
	})
	for i, err := range errs {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, overtake.ErrPeer) {
			t.Errorf("worker %d: %v, want %v", i, err, context.Canceled)
		}
	}
}

// TestMain lets the test binary be a copy of itself.
func TestMain(m *testing.M) {
	if overtake.IsCopy() {
		if err := runCopies(nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runCopies(list *memory.List[routed]) error {
	if list == nil {
		list = &memory.List[routed]{}
	}
	opts := small(3)
	opts.Cluster.Processes = 3
	job := overtake.NewJob("copies", opts)
	received := overtake.TryMap(overtake.From(job, numbers(3000)).Rebalance(), func(ctx *overtake.Context, v uint64) (routed, error) {
		return routed{os.Getpid(), v}, nil
	})
	overtake.To(received, list)
	return job.Run(context.Background())
}

func TestProcessesAreCopiesOfThisOne(t *testing.T) {
	defer goleak.VerifyNone(t)
	var list memory.List[routed]
	if err := runCopies(&list); err != nil {
		t.Fatal(err)
	}
	processes := map[int]int{}
	for _, r := range list.Values() {
		processes[r.Subtask]++
	}
	if len(processes) != 3 || len(list.Values()) != 3000 {
		t.Fatalf("%d records from processes %v, want 3000 from 3", len(list.Values()), processes)
	}
}
