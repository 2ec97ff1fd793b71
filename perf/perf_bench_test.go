package perf_test

import (
	"testing"

	"github.com/overtake-stream/overtake/perf"
)

// latencies spread over many buckets, as measured ones do.
func latencies() []int64 {
	list, x := make([]int64, 4096), uint64(88172645463325252)
	for i := range list {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		list[i] = int64(x >> (40 + x&15))
	}
	return list
}

func BenchmarkRecord(b *testing.B) {
	var h perf.Histogram
	list := latencies()
	for i := 0; b.Loop(); i++ {
		h.Record(list[i&4095])
	}
}

func BenchmarkRecordWhileRead(b *testing.B) {
	var h perf.Histogram
	list := latencies()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				s := h.Snapshot()
				_ = s.Quantile(0.99)
			}
		}
	}()
	for i := 0; b.Loop(); i++ {
		h.Record(list[i&4095])
	}
	close(stop)
	<-stopped
}

func BenchmarkSnapshot(b *testing.B) {
	var h perf.Histogram
	for b.Loop() {
		s := h.Snapshot()
		_ = s.Count()
	}
}

func BenchmarkClock(b *testing.B) {
	clock := perf.NewClock()
	for b.Loop() {
		clock.Now()
	}
}

func BenchmarkTurn(b *testing.B) {
	var a perf.TimeAccount
	a.Start(0)
	for b.Loop() {
		a.To(perf.Idle, 1)
		a.To(perf.Busy, 1)
	}
}

func BenchmarkBatch(b *testing.B) {
	var h perf.Histogram
	var batch perf.Batch
	list := latencies()
	for i := 0; b.Loop(); i++ {
		batch.Record(&h, list[i&4095])
	}
}
