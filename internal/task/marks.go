package task

import (
	"encoding/binary"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/operators"
)

// Names of parts.
const (
	// MarksState is the name of the part with the watermarks of a subtask's channels.
	MarksState = "watermarks"
	// SplitMarksState is the name of the part with the event time of a source's splits: a
	// piece for each of its positions.
	SplitMarksState = "event time of splits"
)

// saveMarks adds the watermarks of the channels and splits to a checkpoint.
func (t *Task) saveMarks(r *round) {
	t.saveSplits(r)
	if !t.time.known() {
		return
	}
	c := t.checkpoints
	at, b := len(r.inline), c.scratch[:0]
	for ch := range t.time.merge.Len() {
		in := t.time.merge.Input(ch)
		b = Mark{Edge: c.Inputs[ch].Edge, From: c.Inputs[ch].From, Time: in.Mark, Idle: in.Idle}.append(b[:0])
		r.piece(b)
	}
	r.piece(Mark{Time: t.time.now}.append(b[:0]))
	r.add(c, c.UIDs[0], checkpoint.Part{Kind: checkpoint.OperatorState, State: MarksState, Inline: r.since(at)})
}

// known reports whether anything is known of a channel's event time.
func (e *eventTime) known() bool {
	for ch := range e.merge.Len() {
		if in := e.merge.Input(ch); in.Idle || in.Mark != watermark.None {
			return true
		}
	}
	return false
}

// saveSplits adds the event time of the splits whose positions the source has given.
func (t *Task) saveSplits(r *round) {
	c := t.checkpoints
	if t.cfg.Source == nil || t.time.maker == nil {
		return
	}
	numbers, ok := t.cfg.Source.SplitNumbers(c.numbers[:0])
	if !ok {
		return
	}
	c.numbers = numbers
	at, known := len(r.inline), false
	for _, n := range numbers {
		latest, idle, ok := t.time.maker.Save(n)
		b := c.scratch[:0]
		if ok {
			known = true
			b = SplitMark{Latest: latest, Idle: idle}.append(b)
		}
		r.piece(b)
	}
	if known {
		r.add(c, c.Source, checkpoint.Part{Kind: checkpoint.OperatorState, State: SplitMarksState, Inline: r.since(at)})
	}
}

// SplitMark is a split's event time in a checkpoint.
type SplitMark struct {
	Latest int64 // of its records
	Idle   bool
}

func (m SplitMark) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Latest))
	if m.Idle {
		return append(b, 1)
	}
	return append(b, 0)
}

// restoreSplits begins the splits where they were: split i is that of position i. marks may be
// fewer than that, and empty where nothing is known. What follows from them is told later: the
// reader has yet to begin those of which nothing is known.
func (t *Task) restoreSplits(marks [][]byte) error {
	if t.time.maker == nil {
		return nil
	}
	for n, b := range marks {
		switch len(b) {
		case 0:
		case 9:
			t.time.maker.Restore(n, int64(binary.LittleEndian.Uint64(b)), b[8] != 0)
		default:
			return ErrRuns
		}
	}
	return nil
}

// Mark is a channel's watermark in a checkpoint; or without an edge, that of a subtask, which
// may be ahead of them, since an idle channel may come back behind the others.
type Mark struct {
	Edge string
	From int
	Time int64
	Idle bool // the channel does not count
}

// idleMark is set in the number of the sender of an idle channel: so what has been written
// before there were any is read as it was.
const idleMark = 1 << 31

func (m Mark) append(b []byte) []byte {
	from := uint32(m.From)
	if m.Idle {
		from |= idleMark
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(m.Time))
	return append(binary.LittleEndian.AppendUint32(b, from), m.Edge...)
}

// ParseMarks decodes what a checkpoint has of a subtask's watermarks.
func ParseMarks(b []byte) (marks []Mark, err error) {
	list, err := operators.SplitPieces(b)
	for _, m := range list {
		if len(m) < 12 {
			return nil, ErrRuns
		}
		from := binary.LittleEndian.Uint32(m[8:])
		marks = append(marks, Mark{
			Time: int64(binary.LittleEndian.Uint64(m)), From: int(from &^ idleMark), Edge: string(m[12:]), Idle: from&idleMark != 0,
		})
	}
	return marks, err
}

// restoreMarks gives the channels the watermarks that they had, before their data. A
// channel that was not there before has the least of its edge's, and is active. So is the
// subtask where it was, or if it is another one, no further behind than all were.
func (t *Task) restoreMarks() {
	e := &t.time
	floor := int64(watermark.Last)
	for _, m := range t.restored.Marks {
		if m.Edge == "" {
			floor = min(floor, m.Time)
		}
	}
	for ch := range e.merge.Len() {
		in, of, found := t.checkpoints.Inputs[ch], watermark.Input{Mark: watermark.Last}, false
		for _, m := range t.restored.Marks {
			if m.Edge == in.Edge && (m.From == in.From || !t.restored.SameChannels) {
				of.Mark, found = min(of.Mark, m.Time), true
				of.Idle = m.Idle && t.restored.SameChannels
			}
		}
		if found {
			e.merge.Set(ch, of)
		}
	}
	if floor < watermark.Last {
		e.merge.Raise(floor)
	}
	if e.maker == nil && e.merge.Len() > 0 {
		t.follow(e.merge.Watermark(), e.merge.Idle())
	}
}

// sayAgain makes a restored subtask tell its receivers whether it is idle, since what they
// have restored may be another state of things.
func (t *Task) sayAgain() {
	if t.restored.From > 0 && len(t.ctx.Partitions()) > 0 {
		t.time.said, t.time.busy = !t.time.idle, true
	}
}
