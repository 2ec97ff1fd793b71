package prometheus

import (
	"strconv"

	"github.com/overtake-stream/overtake/perf"
)

// byEdge makes a metric of edges.
func byEdge(name, kind, help string, collect func(e *perf.EdgeSnapshot, out *sink, labels ...string)) metric {
	return metric{Metric{name, kind, []string{"from", "to", "input"}, help}, func(s *perf.JobSnapshot, out *sink) {
		for i := range s.Edges {
			if e := &s.Edges[i]; len(e.Senders)+len(e.Receivers) > 0 {
				collect(e, out, e.From, e.To, strconv.Itoa(e.Input))
			}
		}
	}}
}

// edgeValue makes one that each edge has one value of.
func edgeValue(name, kind, help string, value func(e *perf.EdgeSnapshot) float64) metric {
	return byEdge(name, kind, help, func(e *perf.EdgeSnapshot, out *sink, labels ...string) { out.value(value(e), labels...) })
}

// edgeTimes makes one of times.
func edgeTimes(name, help string, times func(e *perf.EdgeSnapshot) perf.Distribution) metric {
	return byEdge(name, histogram, help, func(e *perf.EdgeSnapshot, out *sink, labels ...string) { out.times(times(e), labels...) })
}

func edgeMetrics() []metric {
	return []metric{
		edgeValue("overtake_edge_sent_records_total", counter, "Records that this worker has sent on an edge, counted for each receiver.",
			func(e *perf.EdgeSnapshot) float64 { return float64(e.Sent.Records) }),
		edgeValue("overtake_edge_sent_buffers_total", counter, "Buffers queued for receivers.",
			func(e *perf.EdgeSnapshot) float64 { return float64(e.Sent.Buffers) }),
		edgeValue("overtake_edge_sent_bytes_total", counter, "Bytes in these buffers.",
			func(e *perf.EdgeSnapshot) float64 { return float64(e.Sent.Bytes) }),
		edgeValue("overtake_edge_received_buffers_total", counter, "Buffers that this worker's subtasks have read from an edge.",
			func(e *perf.EdgeSnapshot) float64 { return float64(e.Received.Buffers) }),
		edgeValue("overtake_edge_received_bytes_total", counter, "Bytes in these buffers.",
			func(e *perf.EdgeSnapshot) float64 { return float64(e.Received.Bytes) }),
		edgeValue("overtake_edge_output_queue_buffers", gauge, "Buffers that wait to be sent.", func(e *perf.EdgeSnapshot) float64 {
			return bySender(e, func(s *perf.SenderSnapshot) int { return s.QueuedBuffers })
		}),
		edgeValue("overtake_edge_input_queue_buffers", gauge, "Buffers that have arrived and were not read.", func(e *perf.EdgeSnapshot) float64 {
			n := 0
			for i := range e.Receivers {
				n += e.Receivers[i].QueuedBuffers
			}
			return float64(n)
		}),
		edgeValue("overtake_edge_credit_buffers", gauge, "Buffers that may be sent at once, of all channels.", func(e *perf.EdgeSnapshot) float64 {
			return bySender(e, func(s *perf.SenderSnapshot) int { return s.Credits })
		}),
		edgeValue("overtake_edge_starved_channels", gauge, "Channels that have data and no credit.", func(e *perf.EdgeSnapshot) float64 {
			return bySender(e, func(s *perf.SenderSnapshot) int { return s.StarvedChannels })
		}),
		edgeValue("overtake_edge_full_channels", gauge, "Channels whose output queue is full.", func(e *perf.EdgeSnapshot) float64 {
			return bySender(e, func(s *perf.SenderSnapshot) int { return s.FullChannels })
		}),
		edgeTimes("overtake_edge_flush_delay_seconds", "Time from the first record in a buffer until the buffer was queued for its receiver.",
			func(e *perf.EdgeSnapshot) perf.Distribution { return e.FlushDelay }),
		edgeTimes("overtake_edge_buffer_wait_seconds", "Time for which a sender had no buffer to write to, once for each wait.",
			func(e *perf.EdgeSnapshot) perf.Distribution { return e.BufferWait }),
		edgeTimes("overtake_edge_output_queue_seconds", "Time from when a buffer was queued until it was on its way.",
			func(e *perf.EdgeSnapshot) perf.Distribution { return e.OutputQueue }),
		edgeTimes("overtake_edge_credit_wait_seconds", "Time for which a channel had data to send and no credit, once for each time it ran out.",
			func(e *perf.EdgeSnapshot) perf.Distribution { return e.CreditWait }),
		edgeTimes("overtake_edge_queue_seconds", "Time from a buffer's arrival at the receiver's gate until it was dequeued.",
			func(e *perf.EdgeSnapshot) perf.Distribution { return e.QueueTime }),
	}
}

func bySender(e *perf.EdgeSnapshot, value func(s *perf.SenderSnapshot) int) float64 {
	n := 0
	for i := range e.Senders {
		n += value(&e.Senders[i])
	}
	return float64(n)
}
