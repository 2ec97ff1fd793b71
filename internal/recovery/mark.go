package recovery

import (
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
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

// unmarked leaves out of records in flight what says something about their channels, which are
// others now. It must not come back with the next checkpoint, if that finds the records still
// in flight: by then there may be channels of the same numbers.
func unmarked(runs []task.InFlight) (list []task.InFlight, err error) {
	for _, run := range runs {
		run.Records, err = pick(run.Records, false, func(*record.Record) (bool, error) { return true, nil })
		if err != nil {
			return nil, err
		}
		if len(run.Records) > 0 {
			list = append(list, run)
		}
	}
	return list, nil
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
