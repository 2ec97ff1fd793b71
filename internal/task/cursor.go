package task

import (
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// cursor is a place among the records of the buffer being read. A subtask may
// leave it there when its outputs are full, and go on later.
type cursor struct {
	it          record.Iterator
	item        netstack.Item
	input       operators.Input
	holding     bool    // item.Buf is ours to release
	markChannel int     // that watermarks belong to; negative if that is unknown
	channel     Channel // that it came from, if checkpoints are taken
}

func (c *cursor) empty() bool { return c.it.Rest() == 0 && !c.holding }

func (c *cursor) close() {
	if c.holding {
		c.item.Buf.Release()
	}
	*c = cursor{}
}

// fetch takes the next item from the gate. It returns false when there is none. now is the
// time if it is known, else 0.
func (t *Task) fetch(now time.Duration) (bool, error) {
	if len(t.replay) > 0 {
		run := t.replay[0]
		t.replay = t.replay[1:]
		t.cursor = cursor{it: record.Over(run.Records), input: t.cfg.Inputs[run.Input], channel: run.Channel, markChannel: t.channelOf(run)}
		return true, nil
	}
	item, ok := t.cfg.Gate.NextAt(now)
	if !ok || item.Event != nil {
		return ok, t.event(item)
	}
	t.cursor = cursor{item: item, input: t.cfg.Inputs[item.Input], holding: true, markChannel: item.Channel}
	item.Buf.SetState(bufferpool.Received)
	if perf.Enabled && item.At > 0 {
		t.begins(item.At)
	}
	if t.checkpoints != nil {
		t.cursor.channel = t.checkpoints.Inputs[item.Channel]
		t.taken(item)
	}
	if a := t.assemblers[item.Channel]; item.Partial || (a != nil && a.Pending()) {
		return true, t.assemble()
	}
	t.cursor.it = record.Over(item.Buf.Payload())
	return true, nil
}

// channelOf is the channel that records in flight have come from, if it is still there.
func (t *Task) channelOf(run InFlight) int {
	if t.restored.SameChannels {
		for ch, in := range t.checkpoints.Inputs {
			if in.Edge == run.Edge && in.From == run.From {
				return ch
			}
		}
	}
	return -1
}

// event takes an event of a channel. The gate itself keeps account of channels that
// end.
func (t *Task) event(item netstack.Item) error {
	switch {
	case item.Event == nil || t.checkpoints == nil:
		return nil
	case item.Event.Kind == netstack.EndOfPartition:
		return t.perform(t.checkpoints.machine.End(nil, item.Channel), item.Channel, 0)
	}
	return t.barrier(item, item.Event.Priority || item.Overtaken > 0)
}

// assemble adds the buffer to a record that spans several.
func (t *Task) assemble() error {
	item := t.cursor.item
	a := t.assemblers[item.Channel]
	if a == nil {
		fresh := record.NewAssembler(t.cfg.MaxRecord)
		a = &fresh
		t.assemblers[item.Channel] = a
	}
	whole, err := a.Add(item.Buf.Payload(), !item.Partial)
	t.cursor.it = record.Over(whole)
	return err
}

// slice runs the records of the current buffer, until it is used up, the pace
// has run out, an output is full, or serve has something to do. It returns how many it
// ran.
func (t *Task) slice() (n int, err error) {
	look, looked, fetched := t.pace.look(), 0, 0
	for limit := t.pace.records; n < limit; {
		if n >= fetched && t.ahead != nil {
			t.prefetch()
			fetched = n + prefetchAhead
		}
		done, err := t.process(min(look, limit-n))
		n += done
		switch {
		case err != nil:
			return n, err
		case t.ctx.Err() != nil:
			return n, t.ctx.Err()
		case !t.ctx.Available():
			return n, nil
		case done > 0:
			if looked += done; looked >= look {
				if looked = 0; t.urgent() {
					return n, nil
				}
			}
			continue
		}
		if more, err := t.next(); err != nil || !more {
			return n, err
		}
	}
	return n, nil
}

// next takes what is not data: a mark, or the buffer's end. It returns false if more must
// not be read now.
func (t *Task) next() (more bool, err error) {
	r := &t.record
	ok, err := t.cursor.it.Next(r)
	if err != nil {
		return false, err
	}
	if !ok {
		t.release()
		return false, nil
	}
	if err := t.mark(t.cursor.markChannel, r); err != nil {
		return false, err
	}
	// Operators are told, or there is output again, before the next record.
	return !t.time.busy && (r.Kind != record.Marker || t.ctx.Available()), nil
}

// release gives the current buffer back and its credit with it.
func (t *Task) release() {
	ch := t.cursor.item.Channel
	if t.cursor.holding {
		t.cursor.item.Processed()
		t.cursor.close()
		if a := t.assemblers[ch]; a != nil {
			a.Done()
		}
		t.cfg.Gate.Done(ch)
	}
}
