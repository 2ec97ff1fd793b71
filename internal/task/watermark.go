package task

import (
	"encoding/binary"
	"time"

	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// eventTime is a subtask's watermark: the least of its channels', or that of an
// operator of its own. It belongs to the subtask's goroutine.
type eventTime struct {
	timed  []operators.Timed // in the order of the chain
	maker  *watermark.Maker  // of an operator of the chain; nil: the channels'
	merge  watermark.Merge   // of the channels
	now    int64             // operators have been told, or are being told
	next   int               // of timed: who has not been told
	busy   bool              // some have not, or there is something to be sent
	sent   int64             // the last one sent on
	prompt bool              // somebody waits for the next one
	idle   bool              // there are no records to be expected
	said   bool              // so the receivers have been told
	asked  time.Duration     // when maker was last asked
	every  time.Duration     // how often it is
	final  bool              // the last watermark was taken
	halted time.Duration     // since when the outputs are full; negative: they are not
}

// How often a subtask's own watermark is looked at. Timers wait for that long, but the results
// of windows do not: their ends are known, and are looked for at least promptEvery apart.
const (
	watermarkEvery = time.Millisecond
	promptEvery    = 100 * time.Microsecond
)

func (t *Task) initTime() {
	e := &t.time
	e.now, e.sent, e.halted = operators.NoWatermark, operators.NoWatermark, -1
	t.ctx.Watermark = e.now
	for _, op := range t.cfg.Ops {
		if w, ok := op.(operators.Watermarker); ok {
			e.maker = w.Maker() // nobody before it is timed
		}
		if timed, ok := op.(operators.Timed); ok {
			e.timed = append(e.timed, timed)
		}
	}
	if e.maker != nil {
		e.every = e.maker.Options().Every
		t.ctx.SetWatermarks(e.maker, t.cfg.Source != nil, t.active)
	}
	if e.every <= 0 {
		e.every = watermarkEvery
	}
	e.next = len(e.timed)
	if t.cfg.Gate != nil {
		e.merge = watermark.NewMerge(t.cfg.Gate.Channels())
	}
}

// mark takes a record that is no data. ch is its channel, negative if that is unknown.
func (t *Task) mark(ch int, r *record.Record) error {
	e := &t.time
	switch {
	case r.Kind == record.Marker:
		return t.takeMarker(ch, r)
	case ch < 0 || e.maker != nil:
		return nil
	case r.Kind == record.Watermark && len(r.Payload) == 8:
		if e.merge.Mark(ch, int64(binary.LittleEndian.Uint64(r.Payload))) {
			e.prompt = e.prompt || r.Hash == prompt
			t.follow(e.merge.Watermark(), e.merge.Idle())
		}
	case r.Kind == record.Status && len(r.Payload) == 1:
		if e.merge.SetIdle(ch, r.Payload[0] != 0) {
			t.follow(e.merge.Watermark(), e.merge.Idle())
		}
	}
	return nil
}

// prompt is the hash of a watermark's record if somebody waits for it: then it is not to wait
// in a buffer for others. So it is known all along the way which ones end windows.
const prompt = 1

// follow takes the watermark and idleness of the subtask. That it is active goes before the
// records that follow, that it is idle behind the watermark.
func (t *Task) follow(mark int64, idle bool) {
	e := &t.time
	if e.idle = idle; !idle {
		t.sayIdle()
	}
	t.advance(mark)
	if e.idle != e.said && !e.final {
		e.busy = true
	}
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

// active is called before the first record after the subtask may have been idle.
func (t *Task) active(m *watermark.Maker) {
	if m == t.time.maker {
		t.time.idle = false
		t.sayIdle()
	}
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
		var payload [8]byte
		binary.LittleEndian.PutUint64(payload[:], uint64(e.now))
		r := record.Record{Kind: record.Watermark, Payload: payload[:]}
		if e.prompt {
			r.Hash = prompt
		}
		t.sendAll(r)
	}
	t.sayIdle()
	if fired := t.ctx.Fired(); e.prompt || fired {
		e.prompt = false
		t.sendOpen()
	}
	return Ready, nil
}

// sendOpen sends what is in open buffers, unless it would only wait behind others.
func (t *Task) sendOpen() {
	now := t.clock.Now()
	for _, p := range t.ctx.Partitions() {
		p.Flush(now)
	}
}

// sayIdle tells the receivers whether the subtask is idle, if they do not know.
func (t *Task) sayIdle() {
	e := &t.time
	if e.idle == e.said || e.final {
		return
	}
	e.said = e.idle
	payload := [1]byte{}
	if e.idle {
		payload[0] = 1
	}
	t.sendAll(record.Record{Kind: record.Status, Payload: payload[:]})
}

// sendAll sends a record to all receivers, behind what was written.
func (t *Task) sendAll(r record.Record) {
	size := record.Size(len(r.Payload), false)
	for _, p := range t.ctx.Partitions() {
		for sub := range p.Builders() {
			record.Append(p.Space(sub, size)[:0], r)
			p.CommitMark(sub, size)
		}
	}
}

// resume ends a wait at time now. While the outputs were full, nobody has asked for records, so
// that their lack says nothing.
func (e *eventTime) resume(now time.Duration) {
	if e.maker != nil && e.halted >= 0 {
		e.maker.Pause(now - e.halted)
	}
	e.halted = -1
}

// crossed reports whether the subtask's own watermark has come to where windows end, and
// it has not just been looked at.
func (t *Task) crossed() bool { return t.time.maker != nil && t.time.maker.Crossed() }

// ownMark asks the operator that makes watermarks, now and then. waits says that there is no
// input.
func (t *Task) ownMark(now time.Duration, waits bool) {
	e := &t.time
	if e.maker == nil || e.final {
		return
	}
	if waits {
		e.maker.Wait(now)
	}
	crossed := e.maker.Crossed()
	if since := now - e.asked; since < e.every && (!crossed || since < promptEvery) {
		return
	}
	e.asked = now
	before := e.now
	t.follow(e.maker.Look(now))
	e.prompt = e.prompt || crossed && e.now > before
}

// markDue is when ownMark has something to do: the last record before a pause has moved
// the watermark, and nothing follows it that would make the subtask look; or by then the
// pause has lasted long enough.
func (t *Task) markDue() (at time.Duration, ok bool) {
	e := &t.time
	if e.maker == nil || e.final || !t.ctx.Available() {
		return 0, false
	}
	if e.maker.Crossed() {
		return e.asked + promptEvery, true
	}
	if e.maker.Behind(e.now) {
		return e.asked + e.every, true
	}
	if at, ok = e.maker.Due(); ok {
		at = max(at, e.asked+e.every)
	}
	return at, ok
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
