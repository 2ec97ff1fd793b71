package bench_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf"
)

func TestAnOpenLoopKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		load := bench.NewOpenLoop(1000, time.Sleep)
		for n := range int64(100) {
			if got := load.Next(); got != n {
				t.Fatalf("message %d, want %d", got, n)
			}
			if at, want := time.Since(start), time.Duration(n)*time.Millisecond; at != want {
				t.Fatalf("message %d at %v, want %v", n, at, want)
			}
		}
	})
}

// A server that stalls for 50 ms must be charged with each of the 50 messages that
// were due meanwhile: a loop that waits for answers would record one.
func TestAnOpenLoopChargesAStallToEveryMessageItHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h perf.Histogram
		load := bench.NewOpenLoop(1000, time.Sleep)
		for range 1000 {
			n := load.Next()
			if n == 500 {
				time.Sleep(50 * time.Millisecond)
			}
			load.Arrived(n, &h)
		}
		s := h.Snapshot()
		if s.Count() != 1000 || s.Max() != int64(50*time.Millisecond) {
			t.Fatalf("%v", &s)
		}
		if s.Quantile(0.949) != 0 || s.Quantile(0.975) < int64(24*time.Millisecond) {
			t.Fatalf("p94.9 %v, p97.5 %v", time.Duration(s.Quantile(0.949)), time.Duration(s.Quantile(0.975)))
		}
	})
}
