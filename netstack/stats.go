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

// ConnectionStats is what waits to be sent to a peer, and what it has room for. Sums are of
// all channels that this worker sends to it.
type ConnectionStats struct {
	Peer     int    // worker index
	Cookie   uint64 // the kernel's name of the socket at this end, 0: it has none, or Start has not ended
	Channels int

	Granted uint64 // data buffers that the peer has given credit for, since Start
	Credits int    // of them, left
	Starved int    // channels that have data queued and no credit
	Queued  int    // data buffers in the queues
	Bytes   int    // in these buffers
}

// Connections returns an account for each peer, by worker. Any goroutine may call it once all
// channels are bound; it takes the queues' locks one by one, so the sums are of slightly
// different moments.
func (s *Stack) Connections() []ConnectionStats {
	var all []ConnectionStats
	for _, c := range s.conns {
		if c == nil {
			continue
		}
		st := ConnectionStats{Peer: c.peer, Cookie: c.name.Load(), Channels: len(c.outs)}
		for _, o := range c.outs {
			o.sub.account(&st)
		}
		all = append(all, st)
	}
	return all
}

// account adds the channel to a connection's account.
func (s *subpartition) account(st *ConnectionStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	backlog, credits := s.backlog(), s.mu.credit.Available()
	st.Granted += s.mu.credit.Granted()
	st.Credits += credits
	st.Queued += backlog
	if backlog > 0 && credits == 0 {
		st.Starved++
	}
	for i := range s.mu.queue.len() {
		if it := s.mu.queue.at(i); it.isData() {
			st.Bytes += it.buf.Len()
		}
	}
}
