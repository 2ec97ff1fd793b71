package task

import (
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/netstack"
)

// serve obeys the coordinator, and barriers that have overtaken data. It is called
// between two records, also while no record can be taken.
func (t *Task) serve() error {
	c := t.checkpoints
	if c == nil {
		return nil
	}
	if t.mail.full.Load() {
		t.woken = 0
		for _, cmd := range t.mail.take() {
			if err := t.obey(cmd); err != nil {
				return err
			}
		}
	}
	for t.cfg.Gate != nil {
		item, ok := t.cfg.Gate.NextPriority()
		var err error
		switch {
		case ok:
			t.woken = 0
			err = t.barrier(item, true)
		case c.promoting > 0: // not before: those queued behind what has overtaken come after it
			id := c.promoting
			c.promoting, t.woken = 0, 0
			err = t.promote(id)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// urgent reports whether serve has something to do.
func (t *Task) urgent() bool {
	return t.mail.full.Load() || t.cfg.Gate != nil && t.cfg.Gate.Urgent()
}

func (t *Task) obey(cmd Command) error {
	c := t.checkpoints
	switch cmd.Kind {
	case Trigger:
		c.note(cmd.Barrier)
		return t.perform(c.machine.Trigger(nil, cmd.Barrier), -1, 0)
	case Abort:
		if err := t.perform(c.machine.Abort(nil, cmd.ID), -1, 0); err != nil {
			return err
		}
		t.drop(cmd.ID)
	case Complete:
		return t.complete(cmd)
	case End:
		c.ending = true
	}
	return nil
}

// complete takes a checkpoint that is durable.
func (t *Task) complete(cmd Command) error {
	t.checkpoints.over(cmd.ID)
	for _, st := range t.checkpoints.Stores.list {
		st.settle(cmd.ID)
	}
	if !cmd.Commit {
		return nil
	}
	for _, op := range t.checkpointers {
		if err := op.Completed(uint64(cmd.ID)); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets a checkpoint that will not be.
func (t *Task) drop(id protocol.ID) {
	c := t.checkpoints
	c.over(id)
	if r := c.find(id); r != nil {
		c.remove(r)
		r.release()
	}
	for _, st := range c.Stores.list {
		st.drop(id)
	}
	if c.held && c.heldBy == id {
		c.held = false
	}
}

// barrier takes a barrier from a channel. ahead says that it may have come ahead of data.
func (t *Task) barrier(item netstack.Item, ahead bool) error {
	ch, overtaken := item.Channel, item.Overtaken
	b, ok, err := parseBarrier(item.Event)
	if err != nil || !ok {
		return err
	}
	if ahead { // barriers do not overtake each other: those queued come along
		if overtaken, err = t.bring(ch, b.ID, overtaken); err != nil {
			return err
		}
	}
	return t.arrive(ch, b, ahead, overtaken)
}

func (t *Task) arrive(ch int, b protocol.Barrier, overtook bool, overtaken int) error {
	t.checkpoints.note(b)
	return t.perform(t.checkpoints.machine.Arrive(nil, ch, b, overtook), ch, overtaken)
}

// note remembers when the first barrier of a checkpoint came.
func (c *checkpoints) note(b protocol.Barrier) {
	if _, seen := c.first[b.ID]; !seen && b.ID > c.machine.Last() {
		c.first[b.ID] = c.Now()
	}
}

// perform does what the machine asks for. overtaken refers to channel ch.
func (t *Task) perform(actions []protocol.Action, ch, overtaken int) error {
	for _, a := range actions {
		var err error
		switch a.Kind {
		case protocol.Start:
			err = t.start(a.Barrier, a.Overtake)
		case protocol.Block:
			t.cfg.Gate.Block(a.Channel)
		case protocol.Unblock:
			t.cfg.Gate.Unblock(a.Channel)
		case protocol.Capture:
			t.checkpoints.find(a.ID).capturing[a.Channel] = true
		case protocol.Captured:
			n := 0
			if a.Channel == ch {
				n = overtaken
			}
			t.captured(a.ID, a.Channel, n)
		case protocol.Promote:
			t.checkpoints.promoting = max(t.checkpoints.promoting, a.ID)
		case protocol.Done:
			t.gathered(a.ID)
		case protocol.Cancelled:
			t.calledOff(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start snapshots the state and sends the barrier on.
func (t *Task) start(b protocol.Barrier, overtake bool) error {
	c := t.checkpoints
	r := c.begin(b)
	r.cost.Delay = time.Duration(r.arrived - b.Triggered)
	r.cost.Overtook = overtake
	began := t.clock.Now()
	r.began = began
	if overtake {
		t.captureHeld(r)
	}
	if err := t.snapshot(r); err != nil {
		return fmt.Errorf("checkpoint %d: %w", b.ID, err)
	}
	e := r.message.set(b, overtake)
	if overtake && c.ordered { // earlier ones, which it does not pass, must not hold it up
		t.leave(b.ID)
	}
	c.ordered = c.ordered || b.Mode == protocol.Auto && !overtake
	for i, p := range t.ctx.Partitions() {
		if overtake {
			p.Overtake(e, t.passing(r, i))
		} else {
			p.EmitAll(e)
		}
	}
	r.leaving = b.Mode == protocol.Auto && !overtake && len(t.ctx.Partitions()) > 0
	if b.Stop && t.cfg.Source != nil {
		c.held, c.heldBy = true, b.ID
	}
	r.cost.Pause = t.clock.Now() - began
	return nil
}

// passing says that the barrier of a round passes data, which is captured, but no barriers.
func (t *Task) passing(r *round, partition int) netstack.Passing {
	c := t.checkpoints
	for i := len(c.passing); i <= partition; i++ {
		c.passing = append(c.passing, netstack.Passing{
			Stop:  isBarrier(0, 0),
			Share: func(sub int, buf bufferpool.Buffer, _ bool) { t.passed(c.overtook, i, sub, buf) },
		})
	}
	c.overtook = r
	return c.passing[partition]
}

// passed captures a buffer that a barrier has passed in an output queue.
func (t *Task) passed(r *round, partition, sub int, buf bufferpool.Buffer) {
	out := t.checkpoints.Outputs[partition]
	ch := Channel{Edge: out.Edge, From: out.From, To: out.First + sub}
	r.capture.Take(ch, true, buf, t.checkpoints.spare(r))
}

// leave lets the barriers below a checkpoint that still wait in output queues overtake, in
// their order. One whose checkpoint has been called off is in the way of others.
func (t *Task) leave(below protocol.ID) {
	var r *round // of the barrier, if it still counts
	match := func(e *netstack.Event) bool {
		b, ok, err := parseBarrier(e)
		return ok && err == nil && b.ID < below && b.Mode == protocol.Auto
	}
	overtake := func(_ int, e *netstack.Event) *netstack.Event {
		b, _, _ := parseBarrier(e)
		if r = t.checkpoints.find(b.ID); r != nil {
			r.cost.Overtook = true
		}
		return newBarrierEvent(b, true)
	}
	for i, p := range t.ctx.Partitions() {
		share := func(sub int, buf bufferpool.Buffer, _ bool) {
			if r == nil {
				buf.Release()
				return
			}
			t.passed(r, i, sub, buf)
		}
		pass := netstack.Passing{Stop: isBarrier(0, 0), Share: share}
		for slices.Contains(p.Promote(match, overtake, pass), true) {
		}
	}
}

// captureHeld captures what the subtask itself holds: the rest of the buffer that it
// is reading, records of which a part is here, and what is still to be replayed.
func (t *Task) captureHeld(r *round) {
	c := t.checkpoints
	n := t.lending.rest
	if n == 0 { // else the iterator is being moved, by whoever has lent the subtask
		n = t.cursor.it.Rest()
	}
	if n > 0 {
		t.captureRest(r, n)
	}
	for _, run := range t.replay {
		r.capture.Keep(run.Channel, false, run.Records)
	}
	for ch, a := range t.assemblers {
		if a != nil && a.Pending() {
			r.capture.Copy(c.Inputs[ch], false, a.Bytes())
		}
	}
}

// captureRest captures the last n bytes of what the subtask is reading.
func (t *Task) captureRest(r *round, n int) {
	in, rest := &t.cursor, t.cursor.it.Tail(n)
	if in.holding { // else it is a run of replay
		if p := in.item.Buf.Payload(); len(p) >= n && &p[len(p)-1] == &rest[n-1] { // not of a record put together
			r.capture.TakeRest(in.channel, false, in.item.Buf.Retain(), n, t.checkpoints.spare(r))
			return
		}
	}
	r.capture.Copy(in.channel, false, rest)
}

// captured ends the capture of a channel, whose barrier has come after n items that
// are still queued.
func (t *Task) captured(id protocol.ID, ch, n int) {
	r := t.checkpoints.find(id)
	r.capturing[ch] = false
	t.cfg.Gate.EachQueued(ch, n, func(buf bufferpool.Buffer, _ bool, e *netstack.Event) {
		if e == nil {
			r.capture.Take(t.checkpoints.Inputs[ch], false, buf.Retain(), t.checkpoints.spare(r))
		}
	})
}

// taken captures a buffer that is handed out, for the checkpoints that need it.
func (t *Task) taken(item netstack.Item) {
	c := t.checkpoints
	for _, r := range c.rounds {
		if r.capturing[item.Channel] {
			r.capture.Take(c.Inputs[item.Channel], false, item.Buf.Retain(), c.spare(r))
		}
	}
}

// promote lets the barriers of checkpoints up to id overtake: those that are queued, and
// those that come later in the order of their channels.
func (t *Task) promote(id protocol.ID) error {
	c := t.checkpoints
	if c.hastened < id {
		c.hastened = id
		t.cfg.Gate.Hasten(isBarrier(0, id+1))
	}
	for ch := range c.Inputs {
		if _, err := t.bring(ch, id+1, 0); err != nil {
			return err
		}
	}
	return nil
}

// bring takes the barriers below a checkpoint out of a channel's queue, as if they had
// overtaken, and corrects what counts as overtaken by one that was handed out before.
func (t *Task) bring(ch int, below protocol.ID, overtaken int) (int, error) {
	for {
		e, at, found := t.cfg.Gate.Promote(ch, isBarrier(0, below))
		if !found {
			return overtaken, nil
		}
		if at < overtaken {
			overtaken--
		}
		b, _, err := parseBarrier(e)
		if err == nil {
			err = t.arrive(ch, b, true, at)
		}
		if err != nil {
			return overtaken, err
		}
	}
}

// gathered takes a checkpoint all of whose barriers are in.
func (t *Task) gathered(id protocol.ID) {
	c := t.checkpoints
	r := c.find(id)
	r.cost.Align = time.Duration(c.Now() - r.arrived)
	delete(c.first, id)
	if !r.leaving {
		t.upload(r)
	}
}

func (t *Task) calledOff(a protocol.Action) {
	c := t.checkpoints
	delete(c.first, a.ID)
	t.drop(a.ID)
	if a.Why == protocol.Superseded {
		c.Tell(Notice{Kind: Declined, ID: a.ID, Err: errSuperseded})
	}
}
