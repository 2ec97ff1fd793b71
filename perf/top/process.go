package top

import "github.com/overtake-stream/overtake/perf"

// Process sums up the workers' processes.
type Process struct {
	Segments     int     `json:"buffers"` // of the workers' network memory
	InUse        int     `json:"buffers_in_use"`
	Idle         int     `json:"buffers_idle"` // of these: waiting in a pool
	SegmentBytes int     `json:"buffer_bytes"`
	Heap         uint64  `json:"heap_bytes"`
	Goroutines   uint64  `json:"goroutines"`
	GCCycles     uint64  `json:"gc_cycles"`
	GCShare      float64 `json:"gc_cpu"` // of the processors' time; known only if there were GCCycles
	BytesIn      float64 `json:"network_bytes_in_per_second"`
	BytesOut     float64 `json:"network_bytes_out_per_second"`
	Network      bool    `json:"network"` // there are other workers
}

func processOf(s *perf.JobSnapshot, seconds float64) Process {
	p := Process{
		Segments: s.Buffers.Segments, InUse: s.Buffers.InUse, Idle: s.Buffers.States["idle"], SegmentBytes: s.Buffers.SegmentBytes,
		Heap: s.Runtime.HeapBytes, Goroutines: s.Runtime.Goroutines, GCCycles: s.Runtime.GCCycles,
	}
	if s.Runtime.TotalCPU > 0 {
		p.GCShare = s.Runtime.GCCPU / s.Runtime.TotalCPU
	}
	if n := s.Network; n != nil {
		p.Network, p.BytesIn, p.BytesOut = true, per(n.BytesIn, seconds), per(n.BytesOut, seconds)
	}
	return p
}
