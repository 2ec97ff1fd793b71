package perf

import "slices"

// Merge puts the parts of all workers together to the whole job. Apply it to snapshots
// of about the same time, or to what Since returns for each worker: a worker that is
// missing in one of two sets would otherwise seem to have done all of its work in
// between. Worker is that of the first part, At the latest, Restarts the most; the job
// has Ended if one part says so, and is Measured if all are. Connections are those of all
// workers, one after the other. The slices of a job of one worker are shared with the part.
func Merge(workers []JobSnapshot) JobSnapshot {
	if len(workers) == 0 {
		return JobSnapshot{}
	}
	all := workers[0]
	if len(workers) == 1 {
		return all
	}
	all.Operators, all.Edges, all.Connections, all.Latencies, all.Checkpoints = nil, nil, nil, nil, nil
	all.Buffers, all.Network, all.Runtime = BufferSnapshot{}, nil, RuntimeSnapshot{}
	for i := range workers {
		all.merge(&workers[i])
	}
	for i := range all.Operators {
		slices.SortFunc(all.Operators[i].Subtasks, func(a, b SubtaskSnapshot) int { return a.Index - b.Index })
	}
	for i := range all.Edges {
		slices.SortFunc(all.Edges[i].Senders, func(a, b SenderSnapshot) int { return a.Subtask - b.Subtask })
		slices.SortFunc(all.Edges[i].Receivers, func(a, b ReceiverSnapshot) int { return a.Subtask - b.Subtask })
	}
	return all
}

func (s *JobSnapshot) merge(part *JobSnapshot) {
	if part.At.After(s.At) {
		s.At = part.At
	}
	s.Workers = max(s.Workers, part.Workers)
	s.Restarts = max(s.Restarts, part.Restarts)
	s.Ended = s.Ended || part.Ended
	s.Measured = s.Measured && part.Measured
	for i := range part.Operators {
		o := &part.Operators[i]
		whole := s.Operator(o.ID)
		if whole == nil {
			s.Operators = append(s.Operators, *o)
			whole = &s.Operators[len(s.Operators)-1]
			whole.Subtasks = nil
		}
		whole.Subtasks = append(whole.Subtasks, o.Subtasks...)
	}
	for i := range part.Edges {
		e := &part.Edges[i]
		whole := s.edge(e)
		if whole == nil {
			s.Edges = append(s.Edges, EdgeSnapshot{From: e.From, To: e.To, Input: e.Input, Pattern: e.Pattern})
			whole = &s.Edges[len(s.Edges)-1]
		}
		whole.merge(e)
	}
	s.Buffers.merge(&part.Buffers)
	if part.Network != nil {
		if s.Network == nil {
			s.Network = new(NetworkSnapshot)
		}
		s.Network.merge(part.Network)
	}
	s.Connections = append(s.Connections, part.Connections...)
	s.Latencies = append(s.Latencies, part.Latencies...)
	if len(s.Checkpoints) == 0 {
		s.Checkpoints = part.Checkpoints // only the first worker has them
	}
	s.Runtime.merge(&part.Runtime)
}

func (e *EdgeSnapshot) merge(part *EdgeSnapshot) {
	e.Sent.Add(part.Sent)
	e.Received.Add(part.Received)
	e.FlushDelay = e.FlushDelay.Merge(part.FlushDelay)
	e.BufferWait = e.BufferWait.Merge(part.BufferWait)
	e.OutputQueue = e.OutputQueue.Merge(part.OutputQueue)
	e.CreditWait = e.CreditWait.Merge(part.CreditWait)
	e.QueueTime = e.QueueTime.Merge(part.QueueTime)
	e.Senders = append(e.Senders, part.Senders...)
	e.Receivers = append(e.Receivers, part.Receivers...)
}

func (b *BufferSnapshot) merge(part *BufferSnapshot) {
	b.SegmentBytes = max(b.SegmentBytes, part.SegmentBytes)
	b.Segments += part.Segments
	b.Free += part.Free
	b.InUse += part.InUse
	b.ResidentBytes += part.ResidentBytes
	b.FreedBytes += part.FreedBytes
	if b.States == nil {
		b.States = map[string]int{}
	}
	for state, n := range part.States {
		b.States[state] += n
	}
	b.Pools = append(b.Pools, part.Pools...)
}

func (n *NetworkSnapshot) merge(part *NetworkSnapshot) {
	n.Reads += part.Reads
	n.Writes += part.Writes
	n.BytesIn += part.BytesIn
	n.BytesOut += part.BytesOut
	n.FramesIn += part.FramesIn
	n.FramesOut += part.FramesOut
	n.HandedOver += part.HandedOver
}

func (r *RuntimeSnapshot) merge(part *RuntimeSnapshot) {
	r.Goroutines += part.Goroutines
	r.MaxProcs += part.MaxProcs
	r.HeapBytes += part.HeapBytes
	r.TotalBytes += part.TotalBytes
	r.AllocatedBytes += part.AllocatedBytes
	r.AllocatedCount += part.AllocatedCount
	r.GCCycles += part.GCCycles
	r.GCCPU += part.GCCPU
	r.UserCPU += part.UserCPU
	r.IdleCPU += part.IdleCPU
	r.TotalCPU += part.TotalCPU
	r.SchedulingLatency = r.SchedulingLatency.Merge(part.SchedulingLatency)
	r.GCPause = r.GCPause.Merge(part.GCPause)
}
