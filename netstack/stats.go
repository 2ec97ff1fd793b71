package netstack

import "sync/atomic"

// stats counts what the I/O goroutine does. It alone writes, so the adds never
// contend.
type stats struct {
	reads, writes       atomic.Uint64
	bytesIn, bytesOut   atomic.Uint64
	framesIn, framesOut atomic.Uint64
	handedOver          atomic.Uint64
	sleeps, rounds      atomic.Uint64
}

// StackStats counts events since Start.
type StackStats struct {
	Reads, Writes       uint64 // system calls, or calls of the TLS layer
	BytesIn, BytesOut   uint64 // with headers
	FramesIn, FramesOut uint64
	HandedOver          uint64 // data frames received straight into the buffer that was handed on
	Rounds, Sleeps      uint64 // of the I/O loop
}

// Stats returns the counters. Any goroutine may call it.
func (s *Stack) Stats() StackStats {
	t := &s.stats
	return StackStats{
		Reads: t.reads.Load(), Writes: t.writes.Load(),
		BytesIn: t.bytesIn.Load(), BytesOut: t.bytesOut.Load(),
		FramesIn: t.framesIn.Load(), FramesOut: t.framesOut.Load(),
		HandedOver: t.handedOver.Load(), Rounds: t.rounds.Load(), Sleeps: t.sleeps.Load(),
	}
}
