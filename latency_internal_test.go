package overtake

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
)

// aheadClock is a clock that is ahead of another.
type aheadClock struct {
	perf.Clock
	ahead time.Duration
}

func (c aheadClock) Now() time.Duration { return c.Clock.Now() + c.ahead }

// pair runs a job as two workers over TCP, whose clocks are an hour apart. latencies are
// those of both, in the end.
func pair(t *testing.T, start func(i int, job *Job) (*Handle, error)) (latencies []LatencyStats) {
	t.Helper()
	addresses := freeAddresses(t, 2)
	errs := make([]error, len(addresses))
	found := make([][]LatencyStats, len(addresses))
	base := perf.NewClock()
	var all sync.WaitGroup
	for i := range addresses {
		all.Go(func() {
			job := NewJob("pair", Options{
				Parallelism: 2, LatencyMarkers: time.Millisecond,
				Network: Network{BufferSize: 512, Memory: 4 << 20},
				Cluster: Cluster{Workers: addresses, Index: i, ConnectTimeout: 20 * time.Second},
			})
			job.clock = aheadClock{base, time.Duration(i) * time.Hour}
			h, err := start(i, job)
			if err == nil {
				err = h.Wait()
				found[i] = h.Latencies()
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return append(found[0], found[1]...)
}

func freeAddresses(t *testing.T, n int) (list []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		list = append(list, l.Addr().String())
	}
	return list
}

// rowsOf are the statistics of a source and an operator.
func rowsOf(list []LatencyStats, source, operator string) (rows []LatencyStats) {
	for _, s := range list {
		if s.Source == source && s.Operator == operator {
			rows = append(rows, s)
		}
	}
	return rows
}

// markersOf is how many markers a source of this worker has sent.
func markersOf(h *Handle, source string) (n uint64) {
	for _, s := range rowsOf(h.Latencies(), source, source) {
		n += s.Times.Count()
	}
	return n
}

// An operator on a worker whose clock is an hour ahead takes its time, while markers wait
// in front of it: they have waited for no less, give or take the error that is told, and
// for no longer than the job has run.
func TestLatenciesBetweenWorkersWhoseClocksDiffer(t *testing.T) {
	defer goleak.VerifyNone(t)
	const takes = 50 * time.Millisecond
	handles := make([]*Handle, 2)
	started := make(chan struct{})
	var once sync.Once
	began := time.Now()
	hold := func(ctx *Context, v uint64) (uint64, error) {
		if ctx.Subtask != 1 {
			return v, nil
		}
		<-started
		once.Do(func() {
			for first := markersOf(handles[0], "numbers"); markersOf(handles[0], "numbers") < first+4; {
				if time.Since(began) > 30*time.Second {
					t.Error("no markers are sent")
					break
				}
				time.Sleep(time.Millisecond)
			}
			time.Sleep(takes)
		})
		if v > 300 {
			handles[0].Drain()
		}
		return v, nil
	}
	list := pair(t, func(i int, job *Job) (*Handle, error) {
		in := From(job, generate.Source(func(i uint64) uint64 { return i }, generate.Options{Count: generate.Forever, Rate: 1000}), WithName("numbers"))
		To(TryMap(in.Rebalance(), hold, WithName("hold")), memory.Discard[uint64](), WithName("drop"))
		h, err := job.Start(context.Background())
		handles[i] = h
		if i == 0 {
			close(started)
		}
		return h, err
	})
	elapsed := time.Since(began)
	for _, name := range []string{"hold", "drop"} {
		rows := rowsOf(list, "numbers", name)
		if len(rows) != 2 {
			t.Fatalf("%d subtasks of %s have seen markers, want 2", len(rows), name)
		}
		for _, s := range rows {
			longest := time.Duration(s.Times.Max())
			if crossed := s.Subtask == 1; crossed && s.OffsetError <= 0 || longest > elapsed+s.OffsetError || s.Sink != (name == "drop") {
				t.Errorf("%s %d: %v after %v, give or take %v", name, s.Subtask, s.Times, elapsed, s.OffsetError)
			}
			if s.Subtask == 1 && longest < takes-s.OffsetError {
				t.Errorf("%s 1: %v, give or take %v, though markers had to wait for %v", name, s.Times, s.OffsetError, takes)
			}
		}
	}
}

// Without markers nothing is measured; with them, all operators of a chain are.
func TestLatenciesInOneProcess(t *testing.T) {
	defer goleak.VerifyNone(t)
	run := func(interval time.Duration) []LatencyStats {
		job := NewJob("chain", Options{Parallelism: 2, LatencyMarkers: interval, Network: Network{BufferSize: 512, Memory: 4 << 20}})
		in := From(job, generate.Source(func(i uint64) uint64 { return i }, generate.Options{Count: 200, Rate: 2000}), WithName("in"))
		even := Map(in, func(v uint64) uint64 { return 2 * v }, WithName("even"))
		To(even, memory.Discard[uint64](), WithName("near"))
		To(even.Broadcast(), memory.Discard[uint64](), WithName("far"))
		h, err := job.Start(context.Background())
		if err == nil {
			err = h.Wait()
		}
		if err != nil {
			t.Fatal(err)
		}
		return h.Latencies()
	}
	if off := run(0); len(off) > 0 {
		t.Errorf("without markers: %+v", off)
	}
	list := run(time.Millisecond)
	for _, name := range []string{"in", "even", "near", "far"} {
		rows := rowsOf(list, "in", name)
		if len(rows) != 2 {
			t.Errorf("%s: %d rows, want 2", name, len(rows))
		}
		for i, s := range rows {
			if s.Subtask != i || s.Times.Count() == 0 || s.OffsetError != 0 || s.Lost != 0 || s.Sink != (name == "near" || name == "far") {
				t.Errorf("%s %d: %+v %v", name, i, s.Sink, s.Times)
			}
		}
	}
}

func TestLatencyMarkersAreValidated(t *testing.T) {
	for _, d := range []time.Duration{-1, 1, time.Millisecond - 1} {
		if err := (Options{LatencyMarkers: d}).Validate(); err == nil || !strings.Contains(err.Error(), "LatencyMarkers") {
			t.Errorf("%v: %v", d, err)
		}
	}
	if err := (Options{LatencyMarkers: time.Millisecond}).Validate(); err != nil {
		t.Error(err)
	}
}
