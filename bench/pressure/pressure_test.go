package pressure_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// took runs a job of so many records under pressure, with two subtasks, and returns how
// long it took.
func took(t *testing.T, c pressure.Config, count uint64) time.Duration {
	t.Helper()
	job := overtake.NewJob("pressed", c.Options(overtake.Options{Parallelism: 2}))
	numbers := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: count}))
	var list memory.List[uint64]
	overtake.To(pressure.Before(c, numbers.Rebalance()), overtake.Sink[uint64](&list))
	began := time.Now()
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	elapsed := time.Since(began)
	if got := uint64(len(list.Values())); got != count {
		t.Fatalf("%d records came through, want %d", got, count)
	}
	return elapsed
}

func TestSlowSinksTakeTheirTime(t *testing.T) {
	for _, spin := range []bool{false, true} {
		c := pressure.Config{SlowSink: 200 * time.Microsecond, Spin: spin}
		// Each of two subtasks has 100 records; of a sleep, less than 1 ms is left over.
		if d := took(t, c, 200); d < 19*time.Millisecond {
			t.Errorf("spin %v: %v for 100 records of 200 µs", spin, d)
		}
	}
}

func TestStalledSubtasksStandStill(t *testing.T) {
	if d := took(t, pressure.Config{Stall: 60 * time.Millisecond, Seed: 3}, 100); d < 60*time.Millisecond {
		t.Errorf("the job took %v, less than one stall", d)
	}
}

func TestStalledJobsCanBeCancelled(t *testing.T) {
	for name, c := range map[string]pressure.Config{"stall": {Stall: time.Hour}, "slow sink": {SlowSink: time.Hour}} {
		job := overtake.NewJob("stalled", overtake.Options{Parallelism: 2})
		numbers := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: 10}))
		overtake.To(pressure.Before(c, numbers.Rebalance()), memory.Discard[uint64]())
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- job.Run(ctx) }()
		select {
		case err := <-ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: a job that was cancelled goes on", name)
		}
	}
}

func TestJobsGoOnWithoutCredit(t *testing.T) {
	took(t, pressure.Config{Starve: true}, 100_000)
}

func TestKeysFollowZipfsLawAndTheSeed(t *testing.T) {
	c := pressure.Config{Skew: 1.5, Seed: 1}
	draw := func(c pressure.Config) (counts [3]int, all []uint64) {
		keys := c.Keys(1000, nil)
		for n := range uint64(100_000) {
			k := keys(n)
			if k < 3 {
				counts[k]++
			}
			all = append(all, k)
		}
		return counts, all
	}
	counts, first := draw(c)
	// The second and third key come 2^-1.5 and 3^-1.5 times as often as the first.
	for i, want := range []float64{1, 0.3536, 0.1925} {
		if got := float64(counts[i]) / float64(counts[0]); got < want*0.9 || got > want*1.1 {
			t.Errorf("key %d comes %v times as often as the first, want %v", i, got, want)
		}
	}
	_, again := draw(c)
	c.Seed = 2
	_, other := draw(c)
	differ := 0
	for i := range first {
		if first[i] != again[i] {
			t.Fatal("the same seed draws other keys")
		}
		if first[i] != other[i] {
			differ++
		}
	}
	if differ < 1000 {
		t.Errorf("another seed draws the same keys, but for %d", differ)
	}
	plain := func(n uint64) uint64 { return n + 1 }
	if got := (pressure.Config{}).Keys(10, plain)(4); got != 5 {
		t.Errorf("without skew: key %d", got)
	}
}

func TestSlowDisksTakeTheirTime(t *testing.T) {
	ctx := context.Background()
	memory := checkpoint.NewMemory()
	defer memory.Close()
	if (pressure.Config{}).Store(memory) != memory {
		t.Error("without pressure the store is another one")
	}
	store := pressure.Config{SlowDisk: 1_000_000}.Store(memory)
	epoch, err := checkpoint.Claim(ctx, store, 0)
	if err != nil || epoch == 0 {
		t.Fatalf("epoch %d, %v", epoch, err)
	}
	name := checkpoint.BlobName{}
	began := time.Now()
	w, err := store.Create(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 50_000)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 50*time.Millisecond {
		t.Errorf("50 kB at 1 MB/s took %v", d)
	}
	w.Abort()

	ending, cancel := context.WithCancel(ctx)
	w, err = store.Create(ending, name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	cancel()
	if _, err := w.Write(make([]byte, 10<<20)); !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was given up: %v", err)
	}
}

func TestSlowDisksGiveSlowly(t *testing.T) {
	ctx := context.Background()
	memory := checkpoint.NewMemory()
	defer memory.Close()
	if _, err := checkpoint.Claim(ctx, memory, 0); err != nil {
		t.Fatal(err)
	}
	w, err := memory.Create(ctx, checkpoint.BlobName{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 50_000)); err != nil {
		t.Fatal(err)
	}
	ref, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	c := pressure.Config{SlowDisk: 1_000_000}
	for name, b := range map[string]checkpoint.Blobs{"store": c.Store(memory), "blobs": c.Blobs(memory)} {
		began := time.Now()
		r, err := b.Open(ctx, ref)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if d := time.Since(began); err != nil || n != 50_000 || d < 50*time.Millisecond {
			t.Errorf("%s: %d bytes at 1 MB/s in %v, %v", name, n, d, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	began := time.Now()
	if _, err := io.Copy(c.Writer(ctx, io.Discard), c.Reader(ctx, bytes.NewReader(make([]byte, 30_000)))); err != nil || time.Since(began) < 60*time.Millisecond {
		t.Errorf("30 kB at 1 MB/s, twice, in %v: %v", time.Since(began), err)
	}
}

func TestPressureBeginsWhenItIsTold(t *testing.T) {
	job := overtake.NewJob("later", overtake.Options{Parallelism: 1})
	numbers := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: 1000}))
	var on atomic.Bool // never
	overtake.To(pressure.BeforeOnce(pressure.Config{SlowSink: time.Hour, Stall: time.Hour}, &on, numbers), memory.Discard[uint64]())
	if err := job.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	d := pressure.Config{Stall: time.Millisecond, Seed: 1}.Delays()
	d.Wait(1, 0, 2, nil)
	if n := d.Stalls(); n != 0 {
		t.Errorf("a reader stood still that was not to: %d times", n)
	}
	d.Wait(1, 1, 2, nil)
	if n := d.Stalls(); n != 1 {
		t.Errorf("the other has stood still %d times", n)
	}
	if d := (pressure.Config{Starve: true}).Delays(); d != nil || d.Stalls() != 0 {
		t.Error("there are delays without such pressure")
	}
}

func TestKindsAreSetsOfPressure(t *testing.T) {
	c := pressure.Config{SlowSink: 1, Spin: true, Skew: 2, Stall: 1, Starve: true, SlowDisk: 1000, Seed: 5}
	all := pressure.SlowSink | pressure.Skew | pressure.Stall | pressure.Starve | pressure.SlowDisk
	if c.Kinds() != all || all.String() != "slow-sink, skew, stall, starve, slow-disk" {
		t.Errorf("%v", c.Kinds())
	}
	for _, one := range all.Each() {
		if only := c.Only(one); only.Kinds() != one || only.Seed != 5 {
			t.Errorf("only %v: %+v", one, only)
		}
		if err := c.Only(one).Check("x", all&^one); err == nil || !strings.Contains(err.Error(), "not "+one.String()) {
			t.Errorf("%v: %v", one, err)
		}
		if err := c.Check("x", all); err != nil {
			t.Error(err)
		}
	}
	if (pressure.Config{Seed: 1}).Active() || (pressure.Config{}).Kinds() != 0 {
		t.Error("a seed alone is no pressure")
	}
}

func TestConfigurationsAreValidated(t *testing.T) {
	for _, c := range []pressure.Config{{SlowSink: -1}, {Stall: -1}, {Skew: 1}, {Skew: 11}, {SlowDisk: -5}, {SlowDisk: 999}} {
		if c.Validate() == nil {
			t.Errorf("no error for %+v", c)
		}
	}
	if err := (pressure.Config{Skew: 1.2, SlowDisk: 1000}).Validate(); err != nil {
		t.Error(err)
	}
}
