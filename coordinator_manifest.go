package overtake

import (
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/recovery"
	"github.com/overtake-stream/overtake/internal/task"
)

// CheckpointStats are the figures of a complete checkpoint.
type CheckpointStats struct {
	ID        uint64
	Savepoint bool
	Triggered time.Time
	Duration  time.Duration // from the trigger until it was durable
	Pause     time.Duration // longest time that a subtask processed nothing for it
	Align     time.Duration // longest time from a subtask's first barrier to its last
	Delay     time.Duration // longest time from the trigger to a subtask's first barrier
	Bytes     int64         // written for it
	FullBytes int64         // that a restore reads
	InFlight  int64         // bytes of records that its barriers have overtaken
	Overtook  bool          // barriers have overtaken records
}

// manifest puts together what the subtasks have said.
func (c *coordinator) manifest(x protocol.Command) *checkpoint.Manifest {
	f := c.began[x.ID]
	m := &checkpoint.Manifest{
		Job: c.keep.job.name, ID: checkpoint.ID(x.ID), Epoch: c.keep.epoch, Mode: c.keep.opts.Mode.String(),
		Triggered: f.triggered, Completed: time.Now().UnixNano(), MaxParallelism: c.keep.job.opts.MaxParallelism,
	}
	if x.Kind.Kept() {
		m.Kind = checkpoint.Savepoint
	}
	m.Stats.Duration = time.Duration(m.Completed - m.Triggered)
	names := map[string]string{}
	for _, n := range c.keep.job.nodes {
		names[n.key()] = n.name
	}
	notices := make([]task.Notice, len(x.Payloads))
	for member, payload := range x.Payloads {
		notices[member] = payload.(task.Notice)
	}
	recovery.Gather(m, notices, func(member int) recovery.Place {
		head, index := c.w.plan.memberAt(protocol.Member(member))
		return recovery.Place{Index: index, Parallelism: head.parallelism}
	}, func(uid string) string { return names[uid] })
	return m
}

// historySize is how many complete checkpoints are remembered.
const historySize = 1024

// record notes the figures of a checkpoint that is complete.
func (c *coordinator) record(x protocol.Command, m *checkpoint.Manifest) {
	s := CheckpointStats{
		ID: uint64(x.ID), Savepoint: x.Kind.Kept(), Triggered: time.Unix(0, m.Triggered),
		Duration: time.Duration(time.Now().UnixNano() - m.Triggered),
		Pause:    m.Stats.SyncPause, Align: m.Stats.Align, Bytes: m.Stats.NewBytes, FullBytes: m.Stats.FullBytes,
	}
	for _, payload := range x.Payloads {
		cost := payload.(task.Notice).Cost
		s.Delay = max(s.Delay, cost.Delay)
		s.InFlight += cost.InBytes + cost.OutBytes
		s.Overtook = s.Overtook || cost.Overtook
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.record) == historySize {
		c.mu.record = append(c.mu.record[:0], c.mu.record[1:]...)
	}
	c.mu.record = append(c.mu.record, s)
}

func (c *coordinator) history() []CheckpointStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]CheckpointStats(nil), c.mu.record...)
}
