package perf

import "slices"

// Since returns what has happened since earlier, a snapshot of the same worker's part:
// counts and times are those between the two, and what tells of a moment is s's. If the
// job was restarted in between, everything since the restart counts; so it does if
// earlier is the zero JobSnapshot.
func (s *JobSnapshot) Since(earlier *JobSnapshot) JobSnapshot {
	d := *s
	replaced := s.PID != earlier.PID // which has counted anew, restarts too
	again := replaced || s.Restarts != earlier.Restarts
	d.Operators = slices.Clone(s.Operators)
	for i := range d.Operators {
		o := &d.Operators[i]
		o.Subtasks = slices.Clone(o.Subtasks)
		if old := earlier.Operator(o.ID); old != nil && !again {
			for k := range o.Subtasks {
				o.Subtasks[k].since(old.Subtasks)
			}
		}
	}
	d.Edges = slices.Clone(s.Edges)
	for i := range d.Edges {
		e := &d.Edges[i]
		e.Senders, e.Receivers = slices.Clone(e.Senders), slices.Clone(e.Receivers)
		if old := earlier.edge(e); old != nil && !again {
			e.since(old)
		}
	}
	if s.Network != nil && earlier.Network != nil && !again {
		n := s.Network.since(earlier.Network)
		d.Network = &n
	}
	if !again {
		d.Buffers.FreedBytes -= earlier.Buffers.FreedBytes
	}
	d.Connections = slices.Clone(s.Connections)
	for i := range d.Connections {
		if !again {
			d.Connections[i].since(earlier.Connections)
		}
	}
	if !replaced {
		d.Runtime = s.Runtime.since(&earlier.Runtime)
	}
	last := uint64(0)
	if n := len(earlier.Checkpoints); n > 0 {
		last = earlier.Checkpoints[n-1].ID
	}
	d.Checkpoints = slices.DeleteFunc(slices.Clone(s.Checkpoints), func(c CheckpointSnapshot) bool { return c.ID <= last })
	return d
}

// Operator is the chain of an ID, nil if there is none.
func (s *JobSnapshot) Operator(id string) *OperatorSnapshot {
	for i := range s.Operators {
		if s.Operators[i].ID == id {
			return &s.Operators[i]
		}
	}
	return nil
}

func (s *JobSnapshot) edge(like *EdgeSnapshot) *EdgeSnapshot {
	for i := range s.Edges {
		if e := &s.Edges[i]; e.From == like.From && e.To == like.To && e.Input == like.Input {
			return e
		}
	}
	return nil
}

func (s *SubtaskSnapshot) since(all []SubtaskSnapshot) {
	for i := range all {
		old := &all[i]
		if old.Index != s.Index {
			continue
		}
		s.Wall -= old.Wall
		s.Busy -= old.Busy
		s.Idle -= old.Idle
		s.Backpressured -= old.Backpressured
		s.Blocked -= old.Blocked
		s.RecordsIn -= old.RecordsIn
		s.RecordsOut -= old.RecordsOut
		s.BuffersIn -= old.BuffersIn
		s.BuffersOut -= old.BuffersOut
		s.BytesIn -= old.BytesIn
		s.BytesOut -= old.BytesOut
		s.Process = s.Process.Since(old.Process)
	}
}

func (e *EdgeSnapshot) since(old *EdgeSnapshot) {
	e.Sent.take(old.Sent)
	e.Received.take(old.Received)
	e.FlushDelay = e.FlushDelay.Since(old.FlushDelay)
	e.BufferWait = e.BufferWait.Since(old.BufferWait)
	e.OutputQueue = e.OutputQueue.Since(old.OutputQueue)
	e.CreditWait = e.CreditWait.Since(old.CreditWait)
	e.QueueTime = e.QueueTime.Since(old.QueueTime)
	for i := range e.Senders {
		for k := range old.Senders {
			if s, o := &e.Senders[i], &old.Senders[k]; s.Subtask == o.Subtask {
				s.Traffic.take(o.Traffic)
				s.FlushDelay = s.FlushDelay.Since(o.FlushDelay)
				s.BufferWait = s.BufferWait.Since(o.BufferWait)
				s.OutputQueue = s.OutputQueue.Since(o.OutputQueue)
				s.CreditWait = s.CreditWait.Since(o.CreditWait)
			}
		}
	}
	for i := range e.Receivers {
		for k := range old.Receivers {
			if r, o := &e.Receivers[i], &old.Receivers[k]; r.Subtask == o.Subtask {
				r.Traffic.take(o.Traffic)
				r.QueueTime = r.QueueTime.Since(o.QueueTime)
			}
		}
	}
}

func (t *Traffic) take(old Traffic) {
	t.Records -= old.Records
	t.Buffers -= old.Buffers
	t.Bytes -= old.Bytes
}

func (n *NetworkSnapshot) since(old *NetworkSnapshot) NetworkSnapshot {
	return NetworkSnapshot{
		Reads: n.Reads - old.Reads, Writes: n.Writes - old.Writes,
		BytesIn: n.BytesIn - old.BytesIn, BytesOut: n.BytesOut - old.BytesOut,
		FramesIn: n.FramesIn - old.FramesIn, FramesOut: n.FramesOut - old.FramesOut,
		HandedOver: n.HandedOver - old.HandedOver,
	}
}

func (c *ConnectionSnapshot) since(all []ConnectionSnapshot) {
	for i := range all {
		if all[i].Worker == c.Worker && all[i].Peer == c.Peer {
			c.Granted -= all[i].Granted
		}
	}
}

func (r RuntimeSnapshot) since(old *RuntimeSnapshot) RuntimeSnapshot {
	r.AllocatedBytes -= old.AllocatedBytes
	r.AllocatedCount -= old.AllocatedCount
	r.GCCycles -= old.GCCycles
	r.GCCPU -= old.GCCPU
	r.UserCPU -= old.UserCPU
	r.IdleCPU -= old.IdleCPU
	r.TotalCPU -= old.TotalCPU
	r.SchedulingLatency = r.SchedulingLatency.Since(old.SchedulingLatency)
	r.GCPause = r.GCPause.Since(old.GCPause)
	return r
}
