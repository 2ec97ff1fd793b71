package overtake_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
)

func needsAccount(t *testing.T) {
	t.Helper()
	if !perf.Enabled {
		t.Skip("built with the tag noperf: no account is kept")
	}
}

// observed runs a job and takes snapshots all the while, before and after its end. At
// look, which may be nil, the job can be led on.
func observed(t *testing.T, job *overtake.Job, look func(h *overtake.Handle, s perf.JobSnapshot)) (perf.JobSnapshot, error) {
	t.Helper()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	h, err := job.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	last := perf.JobSnapshot{}
	lastBegan, lastEnded := time.Now(), time.Now()
	for {
		began := time.Now()
		s := h.Snapshot()
		ended := time.Now()
		wantAccounts(t, &s, ended.Sub(begun))
		if s.Restarts == last.Restarts {
			wantWallBetween(t, &last, &s, began.Sub(lastEnded), ended.Sub(lastBegan))
		}
		if s.Ended {
			return s, h.Wait()
		}
		last, lastBegan, lastEnded = s, began, ended
		if look != nil {
			look(h, s)
		}
		select {
		case <-h.Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// wantAccounts checks that a subtask's time is split without a rest.
func wantAccounts(t *testing.T, s *perf.JobSnapshot, most time.Duration) {
	t.Helper()
	for _, o := range s.Operators {
		for _, sub := range o.Subtasks {
			sum := sub.Busy + sub.Idle + sub.Backpressured
			if math.Abs(sum-sub.Wall) > sub.Wall/100 || sub.Wall > most.Seconds() || sub.Blocked > sub.Backpressured {
				t.Fatalf("%s[%d]: busy %v, idle %v, backpressured %v (%v blocked) of wall time %v, which is %v at most",
					o.Name, sub.Index, sub.Busy, sub.Idle, sub.Backpressured, sub.Blocked, sub.Wall, most)
			}
		}
	}
}

// wantWallBetween checks the wall time of subtasks that have run between two snapshots
// by another clock.
func wantWallBetween(t *testing.T, a, b *perf.JobSnapshot, least, most time.Duration) {
	t.Helper()
	for i, o := range a.Operators {
		for k, sub := range o.Subtasks {
			later := b.Operators[i].Subtasks[k]
			wall := later.Wall - sub.Wall
			if sub.Running && later.Running && wall < least.Seconds()-1e-6 || wall > most.Seconds()+1e-6 {
				t.Fatalf("%s[%d]: wall time %v between two snapshots, want %v to %v", o.Name, sub.Index, wall, least, most)
			}
		}
	}
}

func TestBusyIdleAndBackpressuredAreTheWallTime(t *testing.T) {
	needsAccount(t)
	defer goleak.VerifyNone(t)
	const n = 30_000
	inc := func(v uint64) uint64 { return v + 1 }
	slowly := func(uint64) error { time.Sleep(20 * time.Microsecond); return nil }
	mod := func(v uint64) uint64 { return v % 7 }
	for name, job := range map[string]func() *overtake.Job{
		"map chain": func() *overtake.Job {
			job := overtake.NewJob("chain", small(2))
			overtake.To(overtake.Map(overtake.Map(overtake.From(job, numbers(n)), inc), inc), memory.Discard[uint64]())
			return job
		},
		"keyBy": func() *overtake.Job {
			job := overtake.NewJob("keyed", small(3))
			in := overtake.KeyBy(overtake.From(job, numbers(n)), mod)
			overtake.To(overtake.Reduce(in, func(a, b uint64) uint64 { return a + b }, overtake.WithUID("sum")), memory.Discard[uint64]())
			return job
		},
		"slow sink": func() *overtake.Job {
			job := overtake.NewJob("slow", small(1))
			overtake.To(overtake.Map(overtake.From(job, numbers(n/20)).Rebalance(), inc).Rebalance(), memory.Func(slowly))
			return job
		},
		"checkpoints": func() *overtake.Job {
			opts := small(2)
			opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 2 * time.Millisecond, Mode: overtake.Unaligned}
			job := overtake.NewJob("checkpoints", opts)
			in := overtake.KeyBy(overtake.From(job, numbers(n), overtake.WithUID("in")), mod)
			sums := overtake.Reduce(in, func(a, b uint64) uint64 { return a + b }, overtake.WithUID("sum"))
			overtake.To(sums.Rebalance(), memory.Func(func(uint64) error { return nil }), overtake.WithUID("out"))
			return job
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := observed(t, job(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range s.Operators {
				for _, sub := range o.Subtasks {
					if sub.Running || sub.Wall == 0 || sub.RecordsIn == 0 || sub.Process.Count == 0 {
						t.Errorf("%s[%d] after the end: %+v", o.Name, sub.Index, sub)
					}
				}
			}
		})
	}
}

func TestSnapshotOfASourceThatWaits(t *testing.T) {
	needsAccount(t)
	defer goleak.VerifyNone(t)
	values := make(chan int)
	job := overtake.NewJob("waits", small(1))
	overtake.To(overtake.From(job, memory.Channel(values)).Rebalance(), memory.Discard[int]())
	sent := false
	s, err := observed(t, job, func(_ *overtake.Handle, s perf.JobSnapshot) {
		source, sink := s.Operators[0].Subtasks[0], s.Operators[1].Subtasks[0]
		switch {
		case !sent && source.Idle > 0.01 && sink.Idle > 0.01:
			values <- 1
			sent = true
			close(values)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range s.Operators {
		if sub := o.Subtasks[0]; sub.RecordsIn != 1 || sub.Idle < 0.01 {
			t.Errorf("%s: %+v, want 1 record and idle time", o.Name, sub)
		}
	}
}

func TestSnapshotCountsWhatMoves(t *testing.T) {
	needsAccount(t)
	defer goleak.VerifyNone(t)
	const n = 10_000
	job := overtake.NewJob("counts", small(2))
	in := overtake.From(job, numbers(n), overtake.WithUID("in"))
	mixed := overtake.Map(in.Rebalance(), func(v uint64) uint64 { return v }, overtake.WithUID("mix"))
	overtake.To(mixed.Broadcast(), memory.Discard[uint64](), overtake.WithUID("out"))
	s, err := observed(t, job, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Operators) != 3 || len(s.Edges) != 2 {
		t.Fatalf("%d operators and %d edges, want 3 and 2", len(s.Operators), len(s.Edges))
	}
	for i, want := range []struct{ in, out uint64 }{{n, n}, {n, 2 * n}, {2 * n, 0}} {
		o := &s.Operators[i]
		if sum := o.Sum(); sum.RecordsIn != want.in || sum.RecordsOut != want.out || sum.QueuedIn != 0 || sum.QueuedOut != 0 {
			t.Errorf("%s: %+v, want %+v records", o.Name, sum, want)
		}
	}
	for i, want := range []struct {
		from, to, pattern string
		records           uint64
	}{{"in", "mix", "rebalance", n}, {"mix", "out", "broadcast", 2 * n}} {
		e := &s.Edges[i]
		if e.From != want.from || e.To != want.to || e.Pattern != want.pattern || e.Sent.Records != want.records {
			t.Errorf("edge %s > %s (%s): %d records, want %+v", e.From, e.To, e.Pattern, e.Sent.Records, want)
		}
		if e.Sent.Buffers == 0 || e.Sent.Buffers != e.Received.Buffers || e.Sent.Bytes != e.Received.Bytes {
			t.Errorf("edge %s > %s: sent %+v, received %+v", e.From, e.To, e.Sent, e.Received)
		}
		if e.QueueTime.Count != e.Received.Buffers || e.OutputQueue.Count != e.Sent.Buffers || e.FlushDelay.Count == 0 {
			t.Errorf("edge %s > %s: %d queue times, %d before, %d flushes of %+v", e.From, e.To, e.QueueTime.Count, e.OutputQueue.Count, e.FlushDelay.Count, e.Sent)
		}
	}
	if s.Job != "counts" || s.Workers != 1 || s.Network != nil || s.Buffers.InUse != 0 || s.Buffers.Segments == 0 || s.Runtime.Goroutines == 0 {
		t.Errorf("%+v", s)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again perf.JobSnapshot
	if err := json.Unmarshal(b, &again); err != nil || again.Edges[1].Sent != s.Edges[1].Sent {
		t.Errorf("%v; %+v as JSON", err, again.Edges)
	}
}

func TestSnapshotOfBackpressure(t *testing.T) {
	needsAccount(t)
	defer goleak.VerifyNone(t)
	var slow atomic.Bool
	slow.Store(true)
	job := overtake.NewJob("pressed", small(1))
	in := overtake.From(job, numbers(5_000), overtake.WithUID("in"))
	mixed := overtake.Map(in.Rebalance(), func(v uint64) uint64 { return v }, overtake.WithUID("mix"))
	overtake.To(mixed.Rebalance(), memory.Func(func(uint64) error {
		if slow.Load() {
			time.Sleep(50 * time.Microsecond)
		}
		return nil
	}), overtake.WithUID("out"))
	seen := false
	s, err := observed(t, job, func(_ *overtake.Handle, s perf.JobSnapshot) {
		e := s.Edges[1]
		source, sink := s.Operators[0].Subtasks[0], s.Operators[2].Subtasks[0]
		seen = source.Backpressured > 0.01 && sink.Busy > 0.01 && e.CreditWait.Count > 0 && e.Senders[0].StarvedChannels == 1 &&
			e.Senders[0].QueuedBuffers > 0 && e.Receivers[0].QueuedBuffers > 0 && e.Senders[0].Credits == 0
		slow.CompareAndSwap(seen, false)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !seen && slow.Load() {
		t.Errorf("backpressure was never seen; at the end: %+v", s.Edges)
	}
}

func TestSnapshotAcrossRestarts(t *testing.T) {
	needsAccount(t)
	defer goleak.VerifyNone(t)
	opts := small(2)
	opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: -1}
	opts.Restart = overtake.Restart{Attempts: 3, Delay: time.Millisecond}
	job := overtake.NewJob("again", opts)
	var failures atomic.Int32
	in := overtake.From(job, numbers(20_000), overtake.WithUID("in"))
	overtake.To(in.Rebalance(), memory.Func(func(v uint64) error {
		if v == 15_000 && failures.Add(1) <= 2 {
			return errors.New("no")
		}
		return nil
	}), overtake.WithUID("out"))
	s, err := observed(t, job, nil)
	if err != nil || s.Restarts != 2 {
		t.Fatalf("%v after %d restarts, want 2", err, s.Restarts)
	}
	if sum := s.Operators[0].Sum(); sum.RecordsIn != 20_000 {
		t.Errorf("%d records, want those of the last attempt alone", sum.RecordsIn)
	}
	if len(s.Checkpoints) == 0 {
		t.Error("the checkpoint of the end is missing")
	}
}

func TestSnapshotHasLatencies(t *testing.T) {
	defer goleak.VerifyNone(t)
	opts := small(1)
	opts.LatencyMarkers = time.Millisecond
	job := overtake.NewJob("latencies", opts)
	values := make(chan int)
	in := overtake.From(job, memory.Channel(values), overtake.WithName("in"))
	overtake.To(in.Rebalance(), memory.Discard[int](), overtake.WithName("out"))
	over := false
	s, err := observed(t, job, func(_ *overtake.Handle, s perf.JobSnapshot) {
		for _, l := range s.Latencies {
			if l.Sink && l.Times.Count > 0 && !over {
				over = true
				close(values)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Latencies {
		if l.Source != "in" || l.Operator != "out" && l.Operator != "in" || l.Sink && l.Times.Max <= 0 || l.Times.Max > 60 {
			t.Errorf("%+v", l)
		}
	}
}
