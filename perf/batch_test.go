package perf_test

import (
	"testing"

	"github.com/overtake-stream/overtake/perf"
	"pgregory.net/rapid"
)

func TestBatchesCountWhatRecordWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := values().Draw(t, "values")
		var h perf.Histogram
		var a, b perf.Batch
		for _, v := range list {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				a.Flush(&h)
			case 1:
				a.Move(&b, &h)
			case 2:
				b.Flush(&h)
			}
			a.Record(&h, v)
		}
		a.Move(&b, &h)
		a.Flush(&h) // it is empty
		b.Flush(&h)
		if got, want := h.Snapshot(), filled(list...); got != want {
			t.Fatalf("counted %v, want %v", &got, &want)
		}
	})
}

func TestManyValuesOfOneBucketAreCounted(t *testing.T) {
	var h perf.Histogram
	for range 1000 {
		h.Record(77)
	}
	if s := h.Snapshot(); s.Count() != 1000 || s.Max() != 77 || s.Quantile(0.5) != 77 {
		t.Errorf("%v, want 1000 values of 77", &s)
	}
}

func TestABatchAllocatesNothing(t *testing.T) {
	var h perf.Histogram
	var b perf.Batch
	if n := testing.AllocsPerRun(100, func() { b.Record(&h, 5) }); n != 0 {
		t.Errorf("%v allocations for a value", n)
	}
}
