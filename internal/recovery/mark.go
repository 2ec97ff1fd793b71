package recovery

import (
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
)

// sameChannels reports whether a subtask has the channels that it had, and they bring
// what they brought. If any operator has another parallelism, records may take other ways
// from there on, also through a channel whose sender had no more to say: its watermark
// then holds no longer for that channel, but the least of the edge's does.
func (d *Dealer) sameChannels(s Subtask) bool {
	if d.from.scaled() {
		return false
	}
	for i := range s.Inputs {
		e := &s.Inputs[i]
		if from := d.saved[e.Sender]; from == nil || from.Parallelism != e.Senders || d.before(e) != e.Parallelism {
			return false
		}
	}
	return true
}

// marks appends the watermarks of a subtask's channels. If they are not the same as
// before, those of all subtasks say how far event time may be; one that had none yet
// says that nothing is known.
func (d *Dealer) marks(dst []task.Mark, uid string, to Subtask, same bool) ([]task.Mark, error) {
	op := d.saved[uid]
	if op == nil {
		return dst, nil
	}
	before := len(dst)
	for _, s := range op.Subtasks {
		if same && s.Index != to.Index {
			continue
		}
		known := false
		for _, p := range s.Parts {
			if p.Kind != checkpoint.OperatorState || p.State != task.MarksState {
				continue
			}
			b, err := d.read(p)
			if err != nil {
				return dst, err
			}
			marks, err := task.ParseMarks(b)
			if err != nil {
				return dst, err
			}
			dst, known = append(dst, marks...), true
		}
		if !known && !same {
			return dst[:before], nil
		}
	}
	return dst, nil
}
