package perf_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/perf"
	"pgregory.net/rapid"
)

func filled(values ...int64) perf.Snapshot {
	var h perf.Histogram
	for _, v := range values {
		h.Record(v)
	}
	return h.Snapshot()
}

// values are of all magnitudes.
func values() *rapid.Generator[[]int64] {
	value := rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<rapid.IntRange(0, 41).Draw(t, "bits")).Draw(t, "value")
	})
	return rapid.SliceOfN(value, 1, 500)
}

func TestQuantilesAreRightToTheDocumentedPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := values().Draw(t, "values")
		s := filled(list...)
		slices.Sort(list)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			exact := list[max(1, int(math.Ceil(q*float64(len(list)))))-1]
			if got := s.Quantile(q); got < exact || got-exact > exact/64 {
				t.Fatalf("Quantile(%v) = %d, want %d up to 1/64 more", q, got, exact)
			}
		}
		if top := list[len(list)-1]; s.Max() != top || s.Quantile(1) != top {
			t.Fatalf("Max = %d, Quantile(1) = %d, want %d", s.Max(), s.Quantile(1), top)
		}
		sum := 0.0
		for _, v := range list {
			sum += float64(v)
		}
		mean := sum / float64(len(list))
		if got := s.Mean(); math.Abs(got-mean) > mean/128 {
			t.Fatalf("Mean = %v, want %v up to 1/128", got, mean)
		}
	})
}

func TestMergeCountsWhatOneHistogramWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values().Draw(t, "a"), values().Draw(t, "b")
		merged, other, all := filled(a...), filled(b...), filled(append(a, b...)...)
		if merged.Merge(&other); merged != all {
			t.Fatalf("merged %v, want %v", &merged, &all)
		}
	})
}

func TestSubLeavesTheTimeBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, between := values().Draw(t, "before"), values().Draw(t, "between")
		got, earlier := filled(append(slices.Clone(before), between...)...), filled(before...)
		got.Sub(&earlier)
		want := filled(between...)
		if got.Count() != want.Count() {
			t.Fatalf("%d values, want %d", got.Count(), want.Count())
		}
		for _, q := range []float64{0.01, 0.5, 0.99, 1} {
			x, y := float64(got.Quantile(q)), float64(want.Quantile(q))
			if x < y || x-y > y/64 {
				t.Fatalf("Quantile(%v) = %v, want %v up to 1/64 more", q, x, y)
			}
		}
	})
}

func TestSubOfEverythingIsEmpty(t *testing.T) {
	s, same := filled(1, 1000, math.MaxInt64), filled(1, 1000, math.MaxInt64)
	if s.Sub(&same); s != (perf.Snapshot{}) {
		t.Fatalf("left %v", &s)
	}
}

func TestEmptyHistogram(t *testing.T) {
	s := filled()
	if s.Count() != 0 || s.Max() != 0 || s.Mean() != 0 || s.Quantile(0.5) != 0 {
		t.Fatalf("not zero: %v", &s)
	}
}

func TestValuesBeyondTheRange(t *testing.T) {
	s := filled(-5, math.MinInt64, math.MaxInt64)
	if s.Quantile(0.5) != 0 || s.Quantile(1) != math.MaxInt64 || s.Count() != 3 {
		t.Fatalf("p50 = %d, p100 = %d of %d values", s.Quantile(0.5), s.Quantile(1), s.Count())
	}
}

func TestSnapshotStringTakesValuesForTimes(t *testing.T) {
	const want = "n=3 p50=1.999µs p90=1ms p99=1ms p99.9=1ms max=1ms"
	s := filled(50, 1999, 1e6)
	if got := s.String(); got != want {
		t.Fatalf("%q, want %q", got, want)
	}
}

func TestSnapshotsWhileRecording(t *testing.T) {
	const writers, each = 2, 20000
	var h perf.Histogram
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for v := range int64(each) {
				h.Record(v)
			}
		})
	}
	var last perf.Snapshot
	for last.Count() < writers*each {
		s := h.Snapshot()
		if s.Count() < last.Count() || s.Max() < last.Max() || s.Quantile(1) != s.Max() || s.Quantile(0.5) > s.Quantile(1) {
			t.Fatalf("%v after %v", &s, &last)
		}
		last = s
	}
	wg.Wait()
	if s := h.Snapshot(); s.Max() != each-1 {
		t.Fatalf("ended with %v", &s)
	}
}

func TestMeasuringAllocatesNothing(t *testing.T) {
	var h perf.Histogram
	var counter perf.Counter
	var account perf.TimeAccount
	var all, s perf.Snapshot
	clock := perf.NewClock()
	account.Start(0)
	if n := testing.AllocsPerRun(100, func() {
		h.Record(int64(clock.Now()))
		counter.Add(1)
		s = h.Snapshot()
		all.Merge(&s)
		account.To(perf.Idle, clock.Now())
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
