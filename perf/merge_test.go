package perf_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/overtake-stream/overtake/perf"
)

func timesOf(values ...time.Duration) perf.Distribution {
	var h perf.Histogram
	for _, v := range values {
		h.Record(int64(v))
	}
	s := h.Snapshot()
	return s.Distribution()
}

// part is what one of two workers says of "read -> write", where it has one subtask each.
func part(worker int, done uint64, queued ...time.Duration) perf.JobSnapshot {
	subtask := perf.SubtaskSnapshot{Index: 1 - worker, Running: true, Wall: 2, Busy: 1, Idle: 1, RecordsIn: done}
	moved := perf.Traffic{Records: done, Buffers: done / 10, Bytes: done * 8}
	s := perf.JobSnapshot{
		Job: "j", Worker: worker, Workers: 2, At: time.Unix(100+int64(worker), 0), Measured: true,
		Operators: []perf.OperatorSnapshot{
			{ID: "read", Parallelism: 2, Source: true, Subtasks: []perf.SubtaskSnapshot{subtask}},
			{ID: "write", Parallelism: 2, Subtasks: []perf.SubtaskSnapshot{subtask}},
		},
		Edges: []perf.EdgeSnapshot{{
			From: "read", To: "write", Pattern: "keyBy", Sent: moved, QueueTime: timesOf(queued...),
			Senders:   []perf.SenderSnapshot{{Subtask: 1 - worker, Traffic: moved}},
			Receivers: []perf.ReceiverSnapshot{{Subtask: 1 - worker, QueueTime: timesOf(queued...)}},
		}},
		Buffers: perf.BufferSnapshot{SegmentBytes: 32, Segments: 10, Free: 6, InUse: 4, States: map[string]int{"queued": 3 + worker, "idle": 1}},
		Network: &perf.NetworkSnapshot{Reads: 1, BytesIn: done},
		Runtime: perf.RuntimeSnapshot{Goroutines: 5, GCCPU: 0.5, TotalCPU: 10},
	}
	if worker == 0 {
		s.Checkpoints = []perf.CheckpointSnapshot{{ID: 7}}
	}
	return s
}

func TestMergeIsTheWholeJob(t *testing.T) {
	parts := []perf.JobSnapshot{part(0, 100, time.Millisecond), part(1, 40, time.Second, time.Second)}
	parts[1].Restarts = 3
	s := perf.Merge(parts)
	if s.Worker != 0 || s.Workers != 2 || !s.At.Equal(time.Unix(101, 0)) || s.Restarts != 3 || !s.Measured || s.Ended {
		t.Errorf("%+v", s)
	}
	if len(s.Operators) != 2 || len(s.Edges) != 1 || len(s.Checkpoints) != 1 {
		t.Fatalf("%d operators, %d edges, %d checkpoints", len(s.Operators), len(s.Edges), len(s.Checkpoints))
	}
	sum := s.Operators[1].Sum()
	if sum.Index != 2 || sum.RecordsIn != 140 || sum.Wall != 4 || s.Operators[1].Subtasks[0].Index != 0 {
		t.Errorf("%+v", s.Operators[1])
	}
	e := s.Edges[0]
	if e.Sent != (perf.Traffic{Records: 140, Buffers: 14, Bytes: 1120}) || e.QueueTime.Count != 3 || e.QueueTime.P50 < 0.9 {
		t.Errorf("%+v", e)
	}
	if len(e.Senders) != 2 || e.Senders[0].Subtask != 0 || e.Senders[0].Records != 40 || len(e.Receivers) != 2 {
		t.Errorf("%+v, %+v", e.Senders, e.Receivers)
	}
	if diff := cmp.Diff(map[string]int{"queued": 7, "idle": 2}, s.Buffers.States); diff != "" || s.Buffers.Segments != 20 || s.Buffers.InUse != 8 {
		t.Errorf("%+v %s", s.Buffers, diff)
	}
	if *s.Network != (perf.NetworkSnapshot{Reads: 2, BytesIn: 140}) || s.Runtime.Goroutines != 10 || s.Runtime.GCCPU != 1 {
		t.Errorf("%+v, %+v", s.Network, s.Runtime)
	}
}

func TestMergeChangesNoPart(t *testing.T) {
	parts := []perf.JobSnapshot{part(0, 100, time.Millisecond), part(1, 40, time.Second)}
	perf.Merge(parts)
	want := []perf.JobSnapshot{part(0, 100, time.Millisecond), part(1, 40, time.Second)}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Error(diff)
	}
}

func TestMergeOfOneOrNone(t *testing.T) {
	one := part(0, 100, time.Millisecond)
	if diff := cmp.Diff(one, perf.Merge([]perf.JobSnapshot{one})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(perf.JobSnapshot{}, perf.Merge(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestMergedSinceIsSinceOfTheWhole(t *testing.T) {
	before := []perf.JobSnapshot{part(0, 100, time.Millisecond), part(1, 40, time.Second)}
	now := []perf.JobSnapshot{part(0, 150, time.Millisecond, time.Minute), part(1, 41, time.Second)}
	var since []perf.JobSnapshot
	for i := range now {
		since = append(since, now[i].Since(&before[i]))
	}
	s := perf.Merge(since)
	if sum := s.Operators[0].Sum(); sum.RecordsIn != 51 || s.Edges[0].QueueTime.Count != 1 || s.Edges[0].QueueTime.P50 < 55 {
		t.Errorf("%+v, %+v", sum, s.Edges[0])
	}
}

// A sink on another worker is seen to be the cause only in the whole.
func TestRootCauseOfTheMergedJob(t *testing.T) {
	first, second := part(0, 10), part(1, 10)
	for i, p := range []*perf.JobSnapshot{&first, &second} {
		p.Operators[0].Subtasks[0].Busy, p.Operators[0].Subtasks[0].Idle, p.Operators[0].Subtasks[0].Backpressured = 0, 0, 2
		p.Operators[1].Subtasks[0].Busy, p.Operators[1].Subtasks[0].Idle = 2*float64(i), 2-2*float64(i)
	}
	if c, ok := first.RootCause(); ok {
		t.Fatalf("the first worker alone blames %+v", c)
	}
	s := perf.Merge([]perf.JobSnapshot{first, second})
	if c, ok := s.RootCause(); !ok || c.Operator != "write" {
		t.Errorf("%+v", c)
	}
}
