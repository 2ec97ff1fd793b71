package task

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// eventTime is a subtask's watermark: the least of its channels', or that of an
// operator of its own. It belongs to the subtask's goroutine.
type eventTime struct {
	timed []operators.Timed     // in the order of the chain
	maker operators.Watermarker // nil: the channels'
	marks []int64               // by channel
	now   int64                 // operators have been told, or are being told
	next  int                   // of timed: who has not been told
	busy  bool                  // some have not
	sent  int64                 // the last one sent on
	asked time.Duration         // when maker was last asked
	final bool                  // the last watermark was taken
}

// watermarkEvery is how often a subtask's own watermark is looked at. The results of
// windows wait for that long.
const watermarkEvery = time.Millisecond

func (t *Task) initTime() {
	e := &t.time
	e.now, e.sent = operators.NoWatermark, operators.NoWatermark
	t.ctx.Watermark = e.now
	for _, op := range t.cfg.Ops {
		if w, ok := op.(operators.Watermarker); ok {
			e.maker, e.timed = w, nil // what comes before it is not told
		}
		if timed, ok := op.(operators.Timed); ok {
			e.timed = append(e.timed, timed)
		}
	}
	if t.cfg.Gate == nil {
		return
	}
	e.marks = make([]int64, t.cfg.Gate.Channels())
	for ch := range e.marks {
		e.marks[ch] = operators.NoWatermark
	}
}

// mark takes a record that is no data. ch is its channel, negative if that is unknown.
func (t *Task) mark(ch int, r *record.Record) error {
	if r.Kind == record.Marker {
		return t.takeMarker(ch, r)
	}
	if r.Kind != record.Watermark || len(r.Payload) != 8 {
		return nil
	}
	return t.channelMark(ch, int64(binary.LittleEndian.Uint64(r.Payload)))
}

// channelMark takes the watermark of a channel.
func (t *Task) channelMark(ch int, mark int64) error {
	e := &t.time
	if ch < 0 || mark <= e.marks[ch] {
		return nil
	}
	least := e.marks[ch] <= e.now || e.now == operators.NoWatermark
	e.marks[ch] = mark
	if least && e.maker == nil {
		t.advance(e.least())
	}
	return nil
}

// least is the least watermark of all channels.
func (e *eventTime) least() int64 {
	least := int64(math.MaxInt64)
	for _, m := range e.marks {
		least = min(least, m)
	}
	return least
}

// advance begins to tell the operators of a new watermark.
func (t *Task) advance(mark int64) {
	e := &t.time
	if mark <= e.now {
		return
	}
	e.now, e.next, e.busy = mark, 0, true
	t.ctx.Watermark = mark
}

// tell goes on telling the operators. Between two timers it may stop, to be called
// again: then a barrier need not wait for all of them.
func (t *Task) tell() (Next, error) {
	e := &t.time
	for e.next < len(e.timed) {
		done, err := e.timed[e.next].OnWatermark(e.now)
		if err == nil {
			err = t.ctx.Err()
		}
		if err != nil || !done {
			return Ready, err
		}
		e.next++
	}
	e.busy = false
	if e.now > e.sent {
		e.sent = e.now
		t.sendMark(e.now)
	}
	return Ready, nil
}

// sendMark sends a watermark to all receivers, behind what was written.
func (t *Task) sendMark(mark int64) {
	var payload [8]byte
	binary.LittleEndian.PutUint64(payload[:], uint64(mark))
	r := record.Record{Kind: record.Watermark, Payload: payload[:]}
	size := record.Size(len(payload), false)
	for _, p := range t.ctx.Partitions() {
		for sub := range p.Builders() {
			record.Append(p.Space(sub, size)[:0], r)
			p.CommitMark(sub, size)
		}
	}
}

// ownMark asks the operator that makes watermarks, now and then.
func (t *Task) ownMark(now time.Duration) {
	e := &t.time
	if e.maker == nil || now-e.asked < watermarkEvery {
		return
	}
	e.asked = now
	t.advance(e.maker.Watermark())
}

// markDue is when ownMark has something to do: the last record before a pause has moved
// the watermark, and nothing follows it that would make the subtask look.
func (t *Task) markDue() (at time.Duration, ok bool) {
	e := &t.time
	if e.maker == nil || e.final || !t.ctx.Available() || e.maker.Watermark() <= e.now {
		return 0, false
	}
	return e.asked + watermarkEvery, true
}

// lastMark ends event time, since the input has ended. It reports whether that has been
// done.
func (t *Task) lastMark() bool {
	if t.time.final {
		return true
	}
	t.time.final = true
	t.advance(operators.LastWatermark)
	return !t.time.busy
}

// saveMarks adds the channels' watermarks to a checkpoint.
func (t *Task) saveMarks(r *round) {
	c := t.checkpoints
	if !slices.ContainsFunc(t.time.marks, func(m int64) bool { return m != operators.NoWatermark }) {
		return
	}
	var list [][]byte
	for ch, m := range t.time.marks {
		b := binary.LittleEndian.AppendUint64(nil, uint64(m))
		b = binary.LittleEndian.AppendUint32(b, uint32(c.Inputs[ch].From))
		list = append(list, append(b, c.Inputs[ch].Edge...))
	}
	r.add(c, c.UIDs[0], checkpoint.Part{Kind: checkpoint.OperatorState, State: MarksState, Inline: operators.JoinPieces(list)})
}

// Mark is a channel's watermark in a checkpoint.
type Mark struct {
	Edge string
	From int
	Time int64
}

// ParseMarks decodes what a checkpoint has of a subtask's watermarks.
func ParseMarks(b []byte) (marks []Mark, err error) {
	list, err := operators.SplitPieces(b)
	for _, m := range list {
		if len(m) < 12 {
			return nil, ErrRuns
		}
		marks = append(marks, Mark{
			Time: int64(binary.LittleEndian.Uint64(m)), From: int(binary.LittleEndian.Uint32(m[8:])), Edge: string(m[12:]),
		})
	}
	return marks, err
}

// restoreMarks gives the channels the watermarks that they had, before their data. A
// channel that was not there before has the least of its edge's.
func (t *Task) restoreMarks() {
	e := &t.time
	for ch := range e.marks {
		in, least, exact := t.checkpoints.Inputs[ch], int64(math.MaxInt64), false
		for _, m := range t.restored.Marks {
			if m.Edge == in.Edge && (m.From == in.From || !t.restored.SameChannels) {
				least, exact = min(least, m.Time), true
			}
		}
		if exact {
			e.marks[ch] = least
		}
	}
	if e.maker == nil && len(e.marks) > 0 {
		t.advance(e.least())
	}
}
