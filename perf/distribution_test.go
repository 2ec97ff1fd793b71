package perf_test

import (
	"math"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/perf"
	"pgregory.net/rapid"
)

const ns = 1e-9

func TestDistributionIsThatOfTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := values().Draw(t, "values")
		s := filled(list...)
		d := s.Distribution()
		if d.Count != uint64(len(list)) || d.P50 != float64(s.Quantile(0.5))*ns || d.P999 != float64(s.Quantile(0.999))*ns || d.Max != float64(s.Max())*ns {
			t.Fatalf("%+v of %v", d, &s)
		}
		wantBuckets(t, d, list)
	})
}

// wantBuckets checks that the buckets count the values, in order, each once.
func wantBuckets(t *rapid.T, d perf.Distribution, list []int64) {
	list = slices.Sorted(slices.Values(list))
	last := 0.0
	for _, b := range d.Buckets {
		n := uint64(0)
		for len(list) > 0 && float64(list[0])*ns < b.Below*(1-1e-12) {
			if float64(list[0])*ns < last*(1-1e-12) {
				t.Fatalf("%d is counted twice", list[0])
			}
			list, n = list[1:], n+1
		}
		if n != b.Count || b.Below <= last {
			t.Fatalf("bucket below %v counts %d, want %d", b.Below, b.Count, n)
		}
		last = b.Below
	}
	if len(list) > 0 {
		t.Fatalf("%d values are in no bucket", len(list))
	}
}

func TestDistributionsMergeAndSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values().Draw(t, "a"), values().Draw(t, "b")
		sa, sb, sall := filled(a...), filled(b...), filled(append(slices.Clone(a), b...)...)
		da, db, all := sa.Distribution(), sb.Distribution(), sall.Distribution()
		wantAlike(t, "merged", da.Merge(db), all)
		wantAlike(t, "since", all.Since(da), db)
	})
}

// wantAlike compares to the precision of buckets.
func wantAlike(t *rapid.T, name string, got, want perf.Distribution) {
	if got.Count != want.Count || !slices.Equal(got.Buckets, want.Buckets) {
		t.Fatalf("%s: %+v, want %+v", name, got, want)
	}
	for _, q := range []struct{ got, want float64 }{{got.P50, want.P50}, {got.P99, want.P99}, {got.Max, want.Max}} {
		if q.got < q.want*(1-1e-9) || q.got > q.want*9/8+8*ns {
			t.Fatalf("%s: quantile %v, want %v up to 1/8 more", name, q.got, q.want)
		}
	}
	if math.Abs(got.Sum-want.Sum) > (got.Sum+want.Sum)/16+8*ns {
		t.Fatalf("%s: sum %v, want %v", name, got.Sum, want.Sum)
	}
}

func TestDistributionsOfNothing(t *testing.T) {
	empty, one := perf.Distribution{}, filled(1000)
	d := one.Distribution()
	for name, got := range map[string]perf.Distribution{
		"merge with none": d.Merge(empty), "merge to none": empty.Merge(d), "since none": d.Since(empty),
		"since more, for it began anew": d.Since(d.Merge(d)),
	} {
		if got.Count != 1 || got.Max != d.Max {
			t.Errorf("%s: %+v, want %+v", name, got, d)
		}
	}
	if got := d.Since(d); got.Count != 0 || got.Max != 0 || got.Sum != 0 || got.P99 != 0 || got.Mean != 0 {
		t.Errorf("since itself: %+v, want nothing", got)
	}
	if got := empty.Quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing: %v", got)
	}
}

func TestSinceIsTheTimeBetween(t *testing.T) {
	at := func(busy float64, records uint64, restarts int) *perf.JobSnapshot {
		s := perf.JobSnapshot{Restarts: restarts, Operators: []perf.OperatorSnapshot{operator("a", shares{busy, 0}), operator("b", shares{1, 0})}, Edges: edges("a>b")}
		s.Operators[0].Subtasks[0].RecordsIn = records
		s.Edges[0].Sent.Bytes = 10 * records
		s.Edges[0].Senders = []perf.SenderSnapshot{{Traffic: perf.Traffic{Bytes: 10 * records}, Credits: int(records)}}
		s.Runtime.GCCycles = records
		for id := range records {
			s.Checkpoints = append(s.Checkpoints, perf.CheckpointSnapshot{ID: id + 1})
		}
		return &s
	}
	a, b := at(10, 3, 0), at(40, 5, 0)
	d := b.Since(a)
	if sub := d.Operators[0].Subtasks[0]; sub.Busy != 3 || sub.RecordsIn != 2 || sub.Wall != 0 {
		t.Errorf("%+v, want 3 s and 2 records", sub)
	}
	if e := d.Edges[0]; e.Sent.Bytes != 20 || e.Senders[0].Bytes != 20 || e.Senders[0].Credits != 5 {
		t.Errorf("%+v, want 20 bytes and the present credits", e)
	}
	if d.Runtime.GCCycles != 2 || len(d.Checkpoints) != 2 || d.Checkpoints[0].ID != 4 {
		t.Errorf("%d cycles and checkpoints %+v, want 2", d.Runtime.GCCycles, d.Checkpoints)
	}
	if b.Operators[0].Subtasks[0].RecordsIn != 5 || b.Edges[0].Senders[0].Bytes != 50 {
		t.Error("the snapshot itself was changed")
	}
	if d := at(40, 5, 1).Since(a); d.Operators[0].Subtasks[0].RecordsIn != 5 || d.Edges[0].Sent.Bytes != 50 {
		t.Errorf("%+v after a restart, want everything since", d.Operators[0])
	}
	if d := b.Since(&perf.JobSnapshot{}); d.Operators[0].Subtasks[0].RecordsIn != 5 {
		t.Errorf("%+v since nothing, want everything", d.Operators[0])
	}
}

func TestReadRuntime(t *testing.T) {
	r := perf.ReadRuntime()
	if r.Goroutines == 0 || r.MaxProcs == 0 || r.HeapBytes == 0 || r.TotalBytes == 0 || r.AllocatedBytes == 0 || r.AllocatedCount == 0 {
		t.Errorf("%+v: something is missing", r)
	}
	if r.SchedulingLatency.Count == 0 || r.SchedulingLatency.P50 <= 0 || r.SchedulingLatency.Max < r.SchedulingLatency.P99 {
		t.Errorf("%+v: no latencies of the scheduler", r.SchedulingLatency)
	}
}
