package overtake

import (
	"os"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// Snapshot returns what this worker's part of the job has done so far and how it is at
// the moment. It may be called at any time, after the end too, and costs the job
// nothing but short locks; it allocates some 100 KB for each subtask meanwhile.
func (h *Handle) Snapshot() perf.JobSnapshot {
	h.mu.Lock()
	w, restarts := h.mu.attempt.worker, h.mu.restarts
	h.mu.Unlock()
	ended := h.ended() // before anything else: what is read after the end is final
	s := perf.JobSnapshot{
		Job: h.job.name, Worker: w.index, Workers: w.plan.workers, At: time.Now(), PID: os.Getpid(), Restarts: restarts, Ended: ended,
		Measured: perf.Enabled, Buffers: bufferSnapshot(w.arena), Runtime: perf.ReadRuntime(),
	}
	for _, head := range w.plan.heads {
		s.Operators = append(s.Operators, w.operatorSnapshot(head, s.At))
	}
	for _, n := range w.plan.job.nodes {
		for _, e := range n.outputs {
			if !e.fused() {
				s.Edges = append(s.Edges, w.edgeSnapshot(e))
			}
		}
	}
	if w.stack != nil {
		n := w.stack.Stats()
		s.Network = &perf.NetworkSnapshot{
			Reads: n.Reads, Writes: n.Writes, BytesIn: n.BytesIn, BytesOut: n.BytesOut,
			FramesIn: n.FramesIn, FramesOut: n.FramesOut, HandedOver: n.HandedOver,
		}
	}
	s.Connections = w.connections()
	for _, l := range h.Latencies() {
		s.Latencies = append(s.Latencies, perf.LatencySnapshot{
			Source: l.Source, Operator: l.Operator, Subtask: l.Subtask, Sink: l.Sink,
			Times: l.Times.Distribution(), OffsetError: l.OffsetError.Seconds(), Lost: l.Lost,
		})
	}
	for _, c := range h.Checkpoints() {
		s.Checkpoints = append(s.Checkpoints, checkpointSnapshot(c))
	}
	return s
}

// connections are those to other workers.
func (w *worker) connections() (all []perf.ConnectionSnapshot) {
	if w.stack == nil {
		return nil
	}
	for _, c := range w.stack.Connections() {
		all = append(all, perf.ConnectionSnapshot{
			Worker: w.index, Peer: c.Peer, Cookie: c.Cookie, Channels: c.Channels, Granted: c.Granted, Credits: c.Credits,
			StarvedChannels: c.Starved, QueuedBuffers: c.Queued, QueuedBytes: c.Bytes,
		})
	}
	return all
}

func (w *worker) operatorSnapshot(head *node, at time.Time) perf.OperatorSnapshot {
	o := perf.OperatorSnapshot{
		ID: head.key(), Name: chainName(head), Parallelism: head.parallelism, Source: head.puller != nil,
		Subtasks: []perf.SubtaskSnapshot{},
	}
	for _, sub := range w.subtasks {
		if sub.head == head {
			o.Subtasks = append(o.Subtasks, sub.snapshot(at))
		}
	}
	return o
}

func (s *subtask) snapshot(at time.Time) perf.SubtaskSnapshot {
	st := s.task.Stats()
	now := perf.SubtaskSnapshot{
		Index: s.index, Running: st.Time.Running, Wall: st.Time.Wall.Seconds(), Busy: st.Time.Busy.Seconds(),
		Idle: st.Time.Idle.Seconds(), Backpressured: st.Time.Backpressured.Seconds(), Blocked: st.Time.Blocked.Seconds(),
		RecordsIn: st.Records, Process: distribution(st.Process),
	}
	if m := st.Watermark; m != operators.NoWatermark && m != operators.LastWatermark {
		mark := float64(m) / 1000
		lag := float64(at.UnixMilli())/1000 - mark
		now.Watermark, now.Lag = &mark, &lag
	}
	if s.gate != nil {
		now.QueuedIn = s.gate.QueuedBuffers()
		for i := range s.head.inputs {
			in := s.gate.Stats(i)
			now.BuffersIn += in.Buffers
			now.BytesIn += in.Bytes
		}
	}
	for _, p := range s.outs {
		out := p.Stats()
		now.RecordsOut += out.Records
		now.BuffersOut += out.Buffers
		now.BytesOut += out.Bytes
		now.QueuedOut += out.Queued
	}
	return now
}

// distribution sums up times in nanoseconds; nil is none.
func distribution(h *perf.Histogram) perf.Distribution {
	if h == nil {
		return perf.Distribution{}
	}
	s := h.Snapshot()
	return s.Distribution()
}

func bufferSnapshot(arena *bufferpool.Arena) perf.BufferSnapshot {
	l := arena.Ledger()
	s := perf.BufferSnapshot{
		SegmentBytes: arena.SegmentSize(), Segments: l.Segments, Free: l.Free, InUse: l.InUse,
		States: map[string]int{}, Pools: []perf.PoolSnapshot{}, FreedBytes: arena.FreedBytes(),
	}
	s.ResidentBytes, _ = arena.Resident()
	for _, p := range l.Pools {
		p.States[bufferpool.Idle] = p.Idle()
		pool := perf.PoolSnapshot{Name: p.Name, Min: p.Min, Limit: p.Limit, Held: p.Held, States: map[string]int{}}
		for state, n := range p.States {
			if n > 0 {
				pool.States[bufferpool.State(state).String()] = n
				s.States[bufferpool.State(state).String()] += n
			}
		}
		s.Pools = append(s.Pools, pool)
	}
	return s
}

func checkpointSnapshot(c CheckpointStats) perf.CheckpointSnapshot {
	return perf.CheckpointSnapshot{
		ID: c.ID, Savepoint: c.Savepoint, Triggered: c.Triggered, Duration: c.Duration.Seconds(), Pause: c.Pause.Seconds(),
		Alignment: c.Align.Seconds(), Delay: c.Delay.Seconds(), Bytes: c.Bytes, FullBytes: c.FullBytes,
		InFlightBytes: c.InFlight, Overtook: c.Overtook,
	}
}
