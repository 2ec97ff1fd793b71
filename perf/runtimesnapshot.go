package perf

import (
	"math"
	"runtime/metrics"
)

// RuntimeSnapshot is what Go's runtime says of the process. CPU times are as of the
// end of the last garbage collection.
type RuntimeSnapshot struct {
	Goroutines     uint64  `json:"goroutines"`
	MaxProcs       uint64  `json:"max_procs"`
	HeapBytes      uint64  `json:"heap_bytes"`      // of live and unswept objects
	TotalBytes     uint64  `json:"total_bytes"`     // mapped by the runtime; network buffers are not among them
	AllocatedBytes uint64  `json:"allocated_bytes"` // since the program's start
	AllocatedCount uint64  `json:"allocated_objects"`
	GCCycles       uint64  `json:"gc_cycles"`
	GCCPU          float64 `json:"gc_cpu_seconds"`
	UserCPU        float64 `json:"user_cpu_seconds"`
	IdleCPU        float64 `json:"idle_cpu_seconds"`
	TotalCPU       float64 `json:"total_cpu_seconds"` // all that there was: idle included

	SchedulingLatency Distribution `json:"scheduling_latency"` // goroutine ready → runs
	GCPause           Distribution `json:"gc_pause"`           // the program stopped for the collector
}

// ReadRuntime reads the figures. It allocates and takes some 50 µs.
func ReadRuntime() RuntimeSnapshot {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"},
		{Name: "/sched/gomaxprocs:threads"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/allocs:objects"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/user:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/sched/latencies:seconds"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	count := func(i int) uint64 {
		if v := samples[i].Value; v.Kind() == metrics.KindUint64 {
			return v.Uint64()
		}
		return 0 // this runtime does not have it
	}
	seconds := func(i int) float64 {
		if v := samples[i].Value; v.Kind() == metrics.KindFloat64 {
			return v.Float64()
		}
		return 0
	}
	times := func(i int) Distribution {
		if v := samples[i].Value; v.Kind() == metrics.KindFloat64Histogram {
			return distributionOf(v.Float64Histogram())
		}
		return Distribution{}
	}
	return RuntimeSnapshot{
		Goroutines: count(0), MaxProcs: count(1), HeapBytes: count(2), TotalBytes: count(3),
		AllocatedBytes: count(4), AllocatedCount: count(5), GCCycles: count(6),
		GCCPU: seconds(7), UserCPU: seconds(8), IdleCPU: seconds(9), TotalCPU: seconds(10),
		SchedulingLatency: times(11), GCPause: times(12),
	}
}

// distributionOf sums up a histogram of the runtime, whose buckets have other bounds
// than ours.
func distributionOf(h *metrics.Float64Histogram) Distribution {
	var d Distribution
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low, high := max(0, h.Buckets[i]), h.Buckets[i+1]
		if math.IsInf(high, 1) {
			high = low
		}
		d.Buckets = append(d.Buckets, Bucket{Below: high, Count: n})
		d.Sum += float64(n) * (low + high) / 2
		d.Max = high
	}
	d.digest()
	return d
}
