package recovery

import (
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
)

// Place is where a member of the job is in its graph.
type Place struct{ Index, Parallelism int }

// Gather adds to a manifest what the members have saved and what it has cost. place tells
// the members apart, name what people call an operator.
func Gather(m *checkpoint.Manifest, notices []task.Notice, place func(member int) Place, name func(uid string) string) {
	ops := map[string]int{}
	for member, n := range notices {
		at := place(member)
		m.Stats.SyncPause = max(m.Stats.SyncPause, n.Cost.Pause)
		m.Stats.Align = max(m.Stats.Align, n.Cost.Align)
		m.Stats.NewBytes += n.Cost.Bytes
		for _, s := range n.Saved {
			i, seen := ops[s.UID]
			if !seen {
				i = len(m.Operators)
				ops[s.UID] = i
				m.Operators = append(m.Operators, checkpoint.Operator{UID: s.UID, Name: name(s.UID), Parallelism: at.Parallelism})
			}
			m.Operators[i].Subtasks = append(m.Operators[i].Subtasks, checkpoint.Subtask{Index: at.Index, Finished: s.Finished, Parts: s.Parts})
		}
	}
	for _, ref := range m.BlobSet() {
		m.Stats.FullBytes += ref.Stored
	}
}
