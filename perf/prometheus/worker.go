package prometheus

import (
	"github.com/overtake-stream/overtake/perf"
)

func bufferMetrics() []metric {
	return []metric{
		{Metric{"overtake_buffer_segments", gauge, []string{"state"}, "The worker's network buffers by what they are used for; free: nothing, idle: they wait in a pool. The sum is constant, but figures are read one after the other."},
			func(s *perf.JobSnapshot, out *sink) {
				out.value(float64(s.Buffers.Free), "free")
				for state, n := range s.Buffers.States {
					out.value(float64(n), state)
				}
			}},
		{Metric{"overtake_buffer_segment_size_bytes", gauge, nil, "The size of one network buffer."},
			func(s *perf.JobSnapshot, out *sink) { out.value(float64(s.Buffers.SegmentBytes)) }},
		{Metric{"overtake_buffer_resident_bytes", gauge, nil, "How much of the worker's network buffers is in memory. Linux says so; elsewhere it is 0."},
			func(s *perf.JobSnapshot, out *sink) { out.value(float64(s.Buffers.ResidentBytes)) }},
		{Metric{"overtake_buffer_freed_bytes_total", counter, nil, "Memory of network buffers that was given back to the system as it lay idle, or as buffers are filled less far."},
			func(s *perf.JobSnapshot, out *sink) { out.value(float64(s.Buffers.FreedBytes)) }},
	}
}

// byNetwork makes a metric of the worker's connections. There is none with one worker.
func byNetwork(name, help string, value func(n *perf.NetworkSnapshot) uint64) metric {
	return metric{Metric{name, counter, nil, help}, func(s *perf.JobSnapshot, out *sink) {
		if s.Network != nil {
			out.value(float64(value(s.Network)))
		}
	}}
}

func networkMetrics() []metric {
	return []metric{
		byNetwork("overtake_network_reads_total", "Calls to read from connections to other workers.", func(n *perf.NetworkSnapshot) uint64 { return n.Reads }),
		byNetwork("overtake_network_writes_total", "Calls to write to them.", func(n *perf.NetworkSnapshot) uint64 { return n.Writes }),
		byNetwork("overtake_network_received_bytes_total", "Bytes read, with headers.", func(n *perf.NetworkSnapshot) uint64 { return n.BytesIn }),
		byNetwork("overtake_network_sent_bytes_total", "Bytes written, with headers.", func(n *perf.NetworkSnapshot) uint64 { return n.BytesOut }),
		byNetwork("overtake_network_received_frames_total", "Frames read.", func(n *perf.NetworkSnapshot) uint64 { return n.FramesIn }),
		byNetwork("overtake_network_sent_frames_total", "Frames written.", func(n *perf.NetworkSnapshot) uint64 { return n.FramesOut }),
		byNetwork("overtake_network_handed_over_frames_total", "Data frames that were received into the buffer that was handed on, without a copy.", func(n *perf.NetworkSnapshot) uint64 { return n.HandedOver }),
	}
}

// byCheckpoint makes a metric of the last checkpoint, on the first worker.
func byCheckpoint(name, help string, value func(c *perf.CheckpointSnapshot) float64) metric {
	return metric{Metric{"overtake_checkpoint_last_" + name, gauge, nil, help}, func(s *perf.JobSnapshot, out *sink) {
		if n := len(s.Checkpoints); n > 0 {
			out.value(value(&s.Checkpoints[n-1]))
		}
	}}
}

func checkpointMetrics() []metric {
	return []metric{
		byCheckpoint("id", "Number of the last complete checkpoint, on the first worker; absent before the first one.", func(c *perf.CheckpointSnapshot) float64 { return float64(c.ID) }),
		byCheckpoint("timestamp_seconds", "When it was triggered, as Unix time.", func(c *perf.CheckpointSnapshot) float64 { return float64(c.Triggered.UnixMilli()) / 1000 }),
		byCheckpoint("duration_seconds", "Time from its trigger until it was durable.", func(c *perf.CheckpointSnapshot) float64 { return c.Duration }),
		byCheckpoint("pause_seconds", "Longest time for which a subtask processed nothing for it.", func(c *perf.CheckpointSnapshot) float64 { return c.Pause }),
		byCheckpoint("alignment_seconds", "Longest time from a subtask's first barrier to its last.", func(c *perf.CheckpointSnapshot) float64 { return c.Alignment }),
		byCheckpoint("delay_seconds", "Longest time from its trigger to a subtask's first barrier.", func(c *perf.CheckpointSnapshot) float64 { return c.Delay }),
		byCheckpoint("written_bytes", "Bytes written for it.", func(c *perf.CheckpointSnapshot) float64 { return float64(c.Bytes) }),
		byCheckpoint("full_bytes", "Bytes that a restore from it reads.", func(c *perf.CheckpointSnapshot) float64 { return float64(c.FullBytes) }),
		byCheckpoint("in_flight_bytes", "Bytes of records that its barriers have overtaken.", func(c *perf.CheckpointSnapshot) float64 { return float64(c.InFlightBytes) }),
	}
}
