package overtake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
)

// coordinator runs the checkpoints of an attempt: the loop around
// protocol.Coordinator, on the first worker. Events may come from any goroutine.
type coordinator struct {
	// constant
	w       *worker
	keep    *keeper
	log     *slog.Logger
	members int
	woken   chan struct{} // holds one: there are events
	over    chan struct{} // closed when the loop has ended

	mu struct {
		sync.Mutex
		events []protocol.Event
		asked  map[protocol.Token]chan answer
		token  protocol.Token
		done   bool
		record []CheckpointStats
	}

	// the loop's
	machine *protocol.Coordinator
	began   map[protocol.ID]flown
	base    protocol.ID   // newest complete checkpoint that increments may build on
	final   protocol.ID   // the checkpoint that the job has ended with; read once over is closed
	drops   []protocol.ID // to be dropped once nothing in flight builds on them
	late    []protocol.ID // given up while subtasks may still have been writing blobs
	timer   *time.Timer
}

// flown is a checkpoint in flight.
type flown struct {
	kind      protocol.Kind
	base      protocol.ID
	triggered int64
}

// answer is what became of a request.
type answer struct {
	id  protocol.ID
	err error
}

func newCoordinator(w *worker) (*coordinator, error) {
	k := w.keep
	n, sources := w.plan.members()
	machine, err := protocol.NewCoordinator(k.opts.protocol(), protocol.Attempt{
		Members: n, Sources: sources, Last: k.last, Retained: k.retained,
	})
	if err != nil {
		return nil, err
	}
	c := &coordinator{
		w: w, keep: k, log: k.job.opts.Log, members: n, machine: machine, began: map[protocol.ID]flown{},
		woken: make(chan struct{}, 1), over: make(chan struct{}),
	}
	c.mu.asked = map[protocol.Token]chan answer{}
	if k.from != nil && k.own {
		c.base = protocol.ID(k.from.ID)
	}
	c.timer = time.NewTimer(time.Hour)
	c.timer.Stop()
	return c, nil
}

// take hands the loop an event.
func (c *coordinator) take(e protocol.Event) {
	e.Now = time.Now().UnixNano()
	c.mu.Lock()
	c.mu.events = append(c.mu.events, e)
	c.mu.Unlock()
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// heard takes what a subtask of any worker says.
func (c *coordinator) heard(m protocol.Member, n task.Notice) {
	e := protocol.Event{ID: n.ID, Member: m}
	switch n.Kind {
	case task.Acked:
		e.Type, e.Payload = protocol.Ack, n
	case task.Declined:
		e.Type, e.Detail = protocol.Decline, n.Err.Error()
	case task.Finished:
		e.Type = protocol.Finished
	}
	c.take(e)
}

// run is the loop. It ends when the coordinator has, or the attempt.
func (c *coordinator) run() {
	defer c.close()
	c.take(protocol.Event{Type: protocol.Tick})
	for !c.machine.Over() {
		select {
		case <-c.woken:
		case <-c.timer.C:
			c.take(protocol.Event{Type: protocol.Tick})
		case <-c.w.ctx.Done():
			c.step(protocol.Event{Type: protocol.Failed, Now: time.Now().UnixNano(), Detail: "the attempt has ended"})
			return
		}
		for _, e := range c.events() {
			c.step(e)
		}
	}
}

func (c *coordinator) events() []protocol.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := c.mu.events
	c.mu.events = nil
	return events
}

// step lets the machine take an event, and does what it commands. What that leads to is
// taken at once.
func (c *coordinator) step(e protocol.Event) {
	for _, x := range c.machine.Step(nil, e) {
		c.obey(x)
	}
}

func (c *coordinator) obey(x protocol.Command) {
	switch x.Type {
	case protocol.Trigger:
		c.trigger(x)
	case protocol.Publish:
		c.publish(x)
	case protocol.NotifyComplete:
		c.completed(x)
	case protocol.NotifyAborted:
		c.aborted(x)
	case protocol.Drop:
		c.drops = append(c.drops, x.ID)
		c.drop()
	case protocol.Discard:
		c.sweep(x.ID)
		c.late = append(c.late, x.ID)
	case protocol.Answer:
		a := answer{id: x.ID}
		if x.Reason.Cause != protocol.CauseNone {
			a.err = x.Reason
		}
		c.reply(x.Token, a)
	case protocol.FailJob:
		c.w.fail(fmt.Errorf("overtake: job %q: checkpoint %d failed, one more in a row than is tolerated: %w", c.keep.job.name, x.ID, x.Reason))
	case protocol.EndJob:
		c.final = x.ID
		c.w.command(task.Command{Kind: task.End})
	case protocol.Wake:
		c.timer.Reset(time.Until(time.Unix(0, x.At)))
	case protocol.Note:
		c.log.Debug("checkpoint event without effect", "event", x.Event.String(), "id", uint64(x.ID), "member", int(x.Member), "why", x.Why.String())
	}
}

func (c *coordinator) trigger(x protocol.Command) {
	b := x.Barrier
	f, again := c.began[x.ID]
	if !again {
		f = flown{kind: x.Kind, base: c.base, triggered: b.Triggered}
		c.began[x.ID] = f
	}
	b.Base = f.base
	for _, m := range x.Members {
		c.w.commandTo(m, task.Command{Kind: task.Trigger, ID: b.ID, Barrier: b})
	}
}

func (c *coordinator) publish(x protocol.Command) {
	m := c.manifest(x)
	ctx, cancel := context.WithTimeout(c.w.ctx, c.publishTime())
	defer cancel()
	err := c.keep.store.Publish(ctx, m)
	var doubt *checkpoint.DoubtError
	now := time.Now().UnixNano()
	switch {
	case err == nil:
		c.record(x, m)
		c.step(protocol.Event{Type: protocol.Published, Now: now, ID: x.ID})
	case errors.As(err, &doubt):
		c.w.fail(fmt.Errorf("overtake: job %q: checkpoint %d: %w", c.keep.job.name, x.ID, err))
	default:
		c.log.Warn("a checkpoint was not written", "id", uint64(x.ID), "error", err)
		c.step(protocol.Event{Type: protocol.PublishFailed, Now: now, ID: x.ID, Detail: err.Error()})
	}
}

func (c *coordinator) publishTime() time.Duration {
	if t := c.keep.opts.Timeout; t > 0 {
		return t
	}
	return time.Duration(protocol.DefaultTimeout)
}

func (c *coordinator) completed(x protocol.Command) {
	delete(c.began, x.ID)
	if x.Kind.Commits() {
		c.base = x.ID
	}
	c.w.command(task.Command{Kind: task.Complete, ID: x.ID, Commit: x.Kind.Commits()})
	c.drop()
	for _, id := range c.late {
		c.sweep(id)
	}
	c.late = c.late[:0]
}

func (c *coordinator) aborted(x protocol.Command) {
	delete(c.began, x.ID)
	level := slog.LevelWarn
	if x.Reason.Cause == protocol.CauseSubsumed || x.Reason.Cause == protocol.CauseJobFailed {
		level = slog.LevelDebug
	}
	c.log.Log(context.Background(), level, "a checkpoint was given up", "id", uint64(x.ID), "kind", x.Kind.String(), "reason", x.Reason.Error())
	c.w.command(task.Command{Kind: task.Abort, ID: x.ID})
	c.drop()
}

// drop forgets what retention has given up, but for what increments in flight build on:
// their blobs must not go before they are referred to again.
func (c *coordinator) drop() {
	kept := c.drops[:0]
	for _, id := range c.drops {
		if c.builtOn(id) {
			kept = append(kept, id)
		} else if err := c.keep.store.Drop(c.w.ctx, checkpoint.ID(id)); err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
			c.log.Warn("an old checkpoint was not deleted", "id", uint64(id), "error", err)
		}
	}
	c.drops = kept
}

func (c *coordinator) builtOn(id protocol.ID) bool {
	if id == c.base {
		return true
	}
	for _, f := range c.began {
		if f.base == id {
			return true
		}
	}
	return false
}

// sweep deletes the blobs of a checkpoint that was given up. Subtasks may be writing some
// yet: it is called again after the next checkpoint that is complete, and what is left
// then goes when the job ends, or at its next start.
func (c *coordinator) sweep(id protocol.ID) {
	if c.w.ctx.Err() != nil {
		return
	}
	_, err := c.keep.store.Sweep(c.w.ctx, func(n checkpoint.BlobName) bool { return n.Checkpoint != checkpoint.ID(id) })
	if err != nil {
		c.log.Warn("blobs of a checkpoint that was given up were not deleted", "id", uint64(id), "error", err)
	}
}
