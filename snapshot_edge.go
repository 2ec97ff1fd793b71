package overtake

import (
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

// edgeTimes adds up the times of all subtasks at an edge.
type edgeTimes struct{ flush, buffer, output, credit, queue perf.Snapshot }

// edgeSnapshot is what this worker's subtasks send and receive on an edge.
func (w *worker) edgeSnapshot(e *edge) perf.EdgeSnapshot {
	from := headOf(e.from)
	s := perf.EdgeSnapshot{
		From: from.key(), To: e.to.key(), Input: e.input, Pattern: e.pattern.String(),
		Senders: []perf.SenderSnapshot{}, Receivers: []perf.ReceiverSnapshot{},
	}
	all := new(edgeTimes)
	for _, sub := range w.subtasks {
		if p := sub.outs[e]; p != nil {
			s.Senders = append(s.Senders, sub.sends(p, all))
		}
		if sub.head == e.to {
			s.Receivers = append(s.Receivers, sub.receives(e, all))
		}
	}
	for _, o := range s.Senders {
		s.Sent.Add(o.Traffic)
	}
	for _, in := range s.Receivers {
		s.Received.Add(in.Traffic)
	}
	s.FlushDelay, s.BufferWait = all.flush.Distribution(), all.buffer.Distribution()
	s.OutputQueue, s.CreditWait = all.output.Distribution(), all.credit.Distribution()
	s.QueueTime = all.queue.Distribution()
	return s
}

// sends is the subtask's end of an edge that begins with it.
func (s *subtask) sends(p *netstack.Partition, all *edgeTimes) perf.SenderSnapshot {
	st := p.Stats()
	end := perf.SenderSnapshot{
		Subtask: s.index, Channels: p.Subpartitions(),
		Traffic:       perf.Traffic{Records: st.Records, Buffers: st.Buffers, Bytes: st.Bytes},
		QueuedBuffers: st.Queued, FullChannels: st.Full, Credits: st.Credits, StarvedChannels: st.Starved,
		PoolHeld: st.Held, PoolLimit: st.Limit,
	}
	if t := st.Times; t != nil {
		end.FlushDelay = addTo(&all.flush, &t.FlushDelay)
		end.BufferWait = addTo(&all.buffer, &t.BufferWait)
		end.OutputQueue = addTo(&all.output, &t.Queue)
		end.CreditWait = addTo(&all.credit, &t.CreditWait)
	}
	return end
}

// receives is the subtask's end of an edge that leads to it.
func (s *subtask) receives(e *edge, all *edgeTimes) perf.ReceiverSnapshot {
	st := s.gate.Stats(e.input)
	end := perf.ReceiverSnapshot{
		Subtask: s.index, Channels: len(e.senders(s.index)),
		Traffic:       perf.Traffic{Buffers: st.Buffers, Bytes: st.Bytes},
		QueuedBuffers: st.Queued,
	}
	if st.Queue != nil {
		end.QueueTime = addTo(&all.queue, st.Queue)
	}
	return end
}

// addTo sums up times, and adds them to those of all.
func addTo(all *perf.Snapshot, h *perf.Histogram) perf.Distribution {
	s := h.Snapshot()
	all.Merge(&s)
	return s.Distribution()
}
