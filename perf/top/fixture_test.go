package top_test

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/top"
)

// start is when the fixture's job began.
func start() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }

// spent is how a subtask of the fixture spends a second, in tenths; the rest it is idle.
type spent struct{ busy, soft, hard float64 }

func distribution(n int, each time.Duration) perf.Distribution {
	var h perf.Histogram
	for range n {
		h.Record(int64(each))
	}
	s := h.Snapshot()
	return s.Distribution()
}

// fixture is what one of two workers says after some seconds of a job of four operators,
// the third of which holds it up: it is busy, on both workers.
func fixture(worker, seconds int) perf.JobSnapshot {
	t := float64(seconds)
	s := perf.JobSnapshot{Job: "orders", Worker: worker, Workers: 2, At: start().Add(time.Duration(seconds) * time.Second), Measured: true}
	for i, o := range []struct {
		id, name string
		spent
		in, out uint64
	}{
		{"orders-in", "orders-in -> parse", spent{1, 5, 4}, 120_000, 120_000},
		{"enrich", "enrich with the customer of the order -> drop tests", spent{2, 8, 0}, 120_000, 90_000},
		{"totals", "totals", spent{10, 0, 0}, 90_000, 1500},
		{"out", "out", spent{0.02, 0, 0}, 1500, 0},
	} {
		sub := perf.SubtaskSnapshot{
			Index: worker, Running: true, Wall: t, Busy: t * o.busy / 10, Backpressured: t * (o.soft + o.hard) / 10, Blocked: t * o.hard / 10,
			RecordsIn: uint64(seconds) * o.in, RecordsOut: uint64(seconds) * o.out, QueuedIn: i * 9,
		}
		sub.Idle = sub.Wall - sub.Busy - sub.Backpressured
		if lag := 2.5 * float64(i); i > 0 {
			mark := float64(s.At.Unix()) - lag
			sub.Lag, sub.Watermark = &lag, &mark
		}
		s.Operators = append(s.Operators, perf.OperatorSnapshot{ID: o.id, Name: o.name, Parallelism: 2, Source: i == 0, Subtasks: []perf.SubtaskSnapshot{sub}})
	}
	for i, pattern := range []string{"rebalance", "keyBy", "forward"} {
		e := perf.EdgeSnapshot{From: s.Operators[i].ID, To: s.Operators[i+1].ID, Pattern: pattern}
		e.Sent = perf.Traffic{Records: uint64(seconds) * 120_000, Bytes: uint64(seconds) * 4_800_000, Buffers: uint64(seconds) * 147}
		e.QueueTime = distribution(147*seconds, time.Duration(1+i)*20*time.Millisecond)
		if i < 2 {
			e.CreditWait, e.BufferWait = distribution(30*seconds, 3*time.Millisecond), distribution(40*seconds, 8*time.Millisecond)
		}
		e.Senders = []perf.SenderSnapshot{{Subtask: worker, Channels: 2, Credits: 4 - 2*i, StarvedChannels: i % 2, QueuedBuffers: 3, PoolHeld: 12 + i%2, PoolLimit: 13}}
		e.Receivers = []perf.ReceiverSnapshot{{Subtask: worker, Channels: 2, QueuedBuffers: 9 * (i + 1), QueueTime: e.QueueTime}}
		s.Edges = append(s.Edges, e)
	}
	s.Buffers = perf.BufferSnapshot{SegmentBytes: 32 << 10, Segments: 2048, Free: 1900, InUse: 148, States: map[string]int{"queued": 140, "idle": 8}}
	s.Network = &perf.NetworkSnapshot{BytesIn: uint64(seconds) * 2_400_000, BytesOut: uint64(seconds) * 2_400_000}
	s.Runtime = perf.RuntimeSnapshot{Goroutines: 30, HeapBytes: 9 << 20, AllocatedBytes: uint64(seconds) << 20, GCCycles: uint64(seconds), GCCPU: t * 0.02, TotalCPU: t}
	if worker == 0 {
		for id := 1; id < seconds; id++ {
			s.Checkpoints = append(s.Checkpoints, perf.CheckpointSnapshot{
				ID: uint64(id), Triggered: start().Add(time.Duration(id) * time.Second), Duration: 0.02 + 0.01*float64(id%3), Pause: 0.0004, Alignment: 0.003,
				Bytes: 1_300_000, FullBytes: 5_200_000, InFlightBytes: 700_000, Overtook: id%2 == 1,
			})
		}
	}
	return s
}

func reading(seconds int) top.Reading {
	return top.Reading{Workers: []perf.JobSnapshot{fixture(0, seconds), fixture(1, seconds)}}
}
