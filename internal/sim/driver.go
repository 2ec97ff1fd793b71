package sim

import (
	"errors"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/recovery"
	"github.com/overtake-stream/overtake/internal/task"
)

// driver is the loop around the coordinator, and the messages between it and the
// subtasks.
type driver struct {
	a       *attempt
	machine *protocol.Coordinator
	began   map[protocol.ID]flown
	base    protocol.ID
	drops   []protocol.ID
	wake    time.Duration // 0: none
	ended   protocol.Kind // with which the job has ended, once the machine is over
	well    bool          // the job has ended, rather than failed
	token   protocol.Token

	down []mail[task.Command] // by member
	up   []mail[task.Notice]
}

// patience is a timeout that nothing takes, in virtual time.
const patience = 1000 * time.Second

// flown is a checkpoint in flight.
type flown struct {
	base      protocol.ID
	triggered int64
}

// mail is messages to or from a member, which arrive in order.
type mail[M any] struct{ queue []letter[M] }

type letter[M any] struct {
	at      time.Duration
	message M
}

func (m *mail[M]) put(at time.Duration, message M) {
	if n := len(m.queue); n > 0 {
		at = max(at, m.queue[n-1].at)
	}
	m.queue = append(m.queue, letter[M]{at, message})
}

func (m *mail[M]) take() M {
	message := m.queue[0].message
	m.queue = m.queue[1:]
	return message
}

func newDriver(a *attempt) (d *driver, err error) {
	w := a.w
	d = &driver{a: a, began: map[protocol.ID]flown{}}
	d.down, d.up = make([]mail[task.Command], len(a.subs)), make([]mail[task.Notice], len(a.subs))
	var sources []protocol.Member
	for _, s := range a.subs {
		if s.node.kind == source {
			sources = append(sources, s.member)
		}
	}
	timeout := w.plan.timeout
	if w.crashes == 0 || timeout == 0 {
		timeout = patience
	} else {
		w.troubled = true
	}
	d.machine, err = protocol.NewCoordinator(protocol.Options{
		Interval: int64(w.plan.interval), MaxConcurrent: w.plan.concurrent, Timeout: int64(timeout),
		TolerableFailures: protocol.AnyFailures, Retain: w.plan.retain, Mode: a.mode, AlignmentTimeout: int64(w.plan.overtake),
	}, protocol.Attempt{Members: len(a.subs), Sources: sources, Last: w.last, Retained: w.retained})
	if a.from != nil {
		d.base = protocol.ID(a.from.ID)
	}
	return d, err
}

// tell is Checkpoints.Tell: it sends what a subtask says on its way.
func (s *sub) tell(n task.Notice) {
	w := s.a.w
	s.a.driver.up[s.member].put(w.now+w.upTo(w.plan.delay), n)
}

// send sends a command on its way.
func (d *driver) send(m protocol.Member, c task.Command) {
	w := d.a.w
	d.down[m].put(w.now+w.upTo(w.plan.delay), c)
}

func (d *driver) sendAll(c task.Command) {
	for m := range d.down {
		d.send(protocol.Member(m), c)
	}
}

// deliver lets a command arrive.
func (d *driver) deliver(s *sub) {
	c := d.down[s.member].take()
	d.a.w.trace("%v is told: %v %d", s, []string{"trigger", "abort", "complete", "end"}[c.Kind], c.ID)
	s.task.Tell(c)
}

// heard takes what a subtask has said.
func (d *driver) heard(m protocol.Member, n task.Notice) {
	d.a.w.trace("%v says: %v %d", d.a.subs[m], []string{"ack", "decline", "finished"}[n.Kind], n.ID)
	e := protocol.Event{ID: n.ID, Member: m}
	switch n.Kind {
	case task.Acked:
		if id := (flightID{d.a.epoch, checkpoint.ID(n.ID)}); d.a.w.plan.tamper != nil && !d.a.w.altered[id] {
			d.a.w.altered[id] = d.a.w.plan.tamper.notice(d.a, &n)
		}
		if n.Cost.Overtook {
			d.a.w.overtook++
		}
		e.Type, e.Payload = protocol.Ack, n
	case task.Declined:
		e.Type, e.Detail = protocol.Decline, n.Err.Error()
	case task.Finished:
		e.Type = protocol.Finished
	}
	d.step(e)
}

func (d *driver) step(e protocol.Event) {
	e.Now = d.a.w.unix()
	for _, x := range d.machine.Step(nil, e) {
		d.obey(x)
	}
}

func (d *driver) obey(x protocol.Command) {
	w := d.a.w
	if x.Type != protocol.Wake {
		w.trace("coordinator: %v %v %d %v", x.Type, x.Kind, x.ID, x.Reason.Err())
	}
	switch x.Type {
	case protocol.Trigger:
		d.trigger(x)
	case protocol.Publish:
		w.after(w.upTo(w.plan.slow), func() { d.publish(x) })
	case protocol.NotifyComplete:
		delete(d.began, x.ID)
		if x.Kind.Commits() {
			d.base = x.ID
		}
		w.completed++
		d.sendAll(task.Command{Kind: task.Complete, ID: x.ID, Commit: x.Kind.Commits()})
		d.drop()
	case protocol.NotifyAborted:
		d.aborted(x)
	case protocol.Drop:
		d.drops = append(d.drops, x.ID)
		d.drop()
	case protocol.Discard:
		_, err := w.store.Store.Sweep(d.a.ctx, func(n checkpoint.BlobName) bool { return n.Checkpoint != checkpoint.ID(x.ID) })
		if err != nil {
			w.fail("sweep: %v", err)
		}
	case protocol.EndJob:
		d.well, d.ended = true, x.Kind
		d.sendAll(task.Command{Kind: task.End})
	case protocol.Wake:
		d.wake = time.Duration(x.At - epochStart)
	case protocol.FailJob:
		w.fail("the job fails though any failures are tolerated: %v", x.Reason)
	}
}

func (d *driver) trigger(x protocol.Command) {
	b := x.Barrier
	f, again := d.began[x.ID]
	if !again {
		f = flown{base: d.base, triggered: b.Triggered}
		d.began[x.ID] = f
	}
	b.Base = f.base
	for _, m := range x.Members {
		d.send(m, task.Command{Kind: task.Trigger, ID: b.ID, Barrier: b})
	}
}

func (d *driver) aborted(x protocol.Command) {
	w := d.a.w
	delete(d.began, x.ID)
	w.aborted++
	switch cause := x.Reason.Cause; {
	case w.troubled || cause == protocol.CauseSubsumed || cause == protocol.CauseJobFailed:
	default:
		w.fail("checkpoint %d was aborted though nothing has gone wrong: %v: %v", x.ID, x.Reason, d.a.state())
	}
	d.sendAll(task.Command{Kind: task.Abort, ID: x.ID})
	d.drop()
}

// publish makes a checkpoint visible.
func (d *driver) publish(x protocol.Command) {
	if d.machine.Over() {
		return
	}
	w := d.a.w
	m := &checkpoint.Manifest{
		Job: "sim", ID: checkpoint.ID(x.ID), Epoch: d.a.epoch, Mode: d.a.mode.String(),
		Triggered: d.began[x.ID].triggered, Completed: w.unix(), MaxParallelism: w.plan.groups,
	}
	if x.Kind.Kept() {
		m.Kind = checkpoint.Savepoint
	}
	notices := make([]task.Notice, len(x.Payloads))
	for i, p := range x.Payloads {
		notices[i] = p.(task.Notice)
	}
	recovery.Gather(m, notices, func(member int) recovery.Place {
		s := d.a.subs[member]
		return recovery.Place{Index: s.index, Parallelism: d.a.par[s.node.id]}
	}, func(uid string) string { return uid })
	w.blobs += len(m.BlobSet())
	err := w.store.Publish(d.a.ctx, m)
	var doubt *checkpoint.DoubtError
	switch {
	case err == nil:
		d.step(protocol.Event{Type: protocol.Published, ID: x.ID})
	case errors.As(err, &doubt):
		d.a.failed = err.Error()
	default:
		if !errors.Is(err, errFault) && !errors.Is(err, checkpoint.ErrNotFound) {
			w.fail("publish %d: %v", x.ID, err)
		}
		if !errors.Is(err, errFault) && !w.troubled {
			w.fail("publish %d: %v", x.ID, err)
		}
		d.step(protocol.Event{Type: protocol.PublishFailed, ID: x.ID, Detail: err.Error()})
	}
}

// drop forgets what retention has given up, but for what increments in flight build on.
func (d *driver) drop() {
	kept := d.drops[:0]
	for _, id := range d.drops {
		if d.builtOn(id) {
			kept = append(kept, id)
		} else if err := d.a.w.store.Drop(d.a.ctx, checkpoint.ID(id)); err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
			d.a.w.fail("drop %d: %v", id, err)
		}
	}
	d.drops = kept
}

func (d *driver) builtOn(id protocol.ID) bool {
	if id == d.base {
		return true
	}
	for _, f := range d.began {
		if f.base == id {
			return true
		}
	}
	return false
}
