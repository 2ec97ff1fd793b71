package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/recovery"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack"
)

// attempt is one run of the job, from a checkpoint or the beginning to a failure or an
// end.
type attempt struct {
	w      *world
	par    []int
	mode   protocol.Mode
	epoch  uint64
	from   *checkpoint.Manifest
	arena  *bufferpool.Arena
	subs   []*sub // by member
	driver *driver
	ctx    context.Context
	cancel context.CancelFunc
	log    *slog.Logger
	failed string // why it ends before its time
	began  time.Duration
}

// newAttempt builds the job and restores it.
func newAttempt(w *world, par []int, mode protocol.Mode) (*attempt, error) {
	a := &attempt{w: w, par: par, mode: mode, began: w.now, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	if err := a.choose(); err != nil {
		return nil, err
	}
	var err error
	size := w.plan.segment
	if a.arena, err = bufferpool.New(bufferpool.Options{SegmentSize: size, Budget: int64(size * (a.least() + w.plan.extra))}); err != nil {
		return nil, err
	}
	for _, n := range w.plan.graph.nodes {
		for i := range par[n.id] {
			s, err := a.newSub(n, i)
			if err != nil {
				return nil, err
			}
			a.subs = append(a.subs, s)
		}
	}
	a.wire()
	if a.driver, err = newDriver(a); err != nil {
		return nil, err
	}
	return a, a.restore()
}

// choose decides what to go on from, as the job's keeper does.
func (a *attempt) choose() error {
	store := a.w.store.Store
	all, err := store.List(a.ctx)
	if err != nil {
		return err
	}
	a.w.retained = nil
	for i := len(all) - 1; i >= 0; i-- {
		a.w.last = max(a.w.last, protocol.ID(all[i].ID))
		if all[i].Kind == checkpoint.Checkpoint {
			a.w.retained = append(a.w.retained, protocol.ID(all[i].ID))
		}
	}
	if _, err = store.Sweep(a.ctx, func(checkpoint.BlobName) bool { return false }); err != nil {
		return err
	}
	above := uint64(0)
	if a.from, _, err = store.Latest(a.ctx); err == nil {
		above = a.from.Epoch
		a.w.restored++
		a.w.tampered = a.w.tampered || a.w.altered[flightID{a.from.Epoch, a.from.ID}]
	} else if !errors.Is(err, checkpoint.ErrNotFound) {
		return err
	}
	a.epoch, err = checkpoint.Claim(a.ctx, store, above)
	a.w.trace("attempt %d goes on from epoch %d, mode %v, parallelism %v", a.epoch, above, a.mode, a.par)
	return err
}

// least is how many buffers the partitions need at least.
func (a *attempt) least() (n int) {
	for _, e := range a.w.plan.graph.edges {
		for i := range a.par[e.from.id] {
			first, end := e.targets(a.par, i)
			if n += 1 + end - first; e.pattern == broadcast {
				n += 1 - (end - first)
			}
		}
	}
	return n
}

// find is the subtask of an operator.
func (a *attempt) find(n *node, index int) *sub {
	for _, s := range a.subs {
		if s.node == n && s.index == index {
			return s
		}
	}
	panic("sim: no such subtask")
}

// wire connects partitions and gates.
func (a *attempt) wire() {
	for _, s := range a.subs {
		for i, e := range s.node.outputs {
			first, end := e.targets(a.par, s.index)
			for to := first; to < end; to++ {
				r := a.find(e.to, to)
				for k, from := range e.senders(a.par, to) {
					if from == s.index {
						netstack.ConnectLocal(s.outs[i], to-first, r.gate, r.gate.Channel(e.input, k))
					}
				}
			}
		}
	}
}

// restore deals what the attempt goes on from.
func (a *attempt) restore() error {
	today := map[string]int{}
	for _, n := range a.w.plan.graph.nodes {
		today[n.uid] = a.par[n.id]
	}
	d, err := recovery.New(a.ctx, recovery.From{Manifest: a.from, Blobs: a.w.store.Store, Own: true, Groups: a.w.plan.groups, Today: today})
	if err != nil {
		return err
	}
	for _, s := range a.subs {
		share, err := d.Share(s.receiver())
		if err != nil {
			return err
		}
		a.w.replayed += len(share.InFlight)
		a.w.again += again(share, a.from)
		a.w.trace("%v goes on from %v", s, summary(share))
		s.task.Restore(share, a.w.last)
	}
	return nil
}

// end runs what is left of all subtasks to its end, as a failure or a cancellation does,
// and gives everything back.
func (a *attempt) end() {
	if a.failed != "" {
		a.driver.step(protocol.Event{Type: protocol.Failed, Detail: a.failed})
	}
	for _, s := range a.subs {
		if a.failed != "" && a.w.rand.IntN(2) == 0 {
			s.write() // what was being written has made it
		}
	}
	if a.failed == "" && a.driver.ended == protocol.Final { // a stop leaves data to those who have stopped
		if held := a.arena.Held(); held > 0 {
			a.w.fail("%d buffers are held after the end: %v", held, a.arena.Ledger())
		}
	}
	a.judgeLatencies()
	a.cancel()
	for _, s := range a.subs {
		s.task.Cancel()
	}
	for _, s := range a.subs {
		for i := 0; !s.over; i++ {
			if s.step(); i > 1000 {
				a.w.fail("%v does not end when it is cancelled", s)
				return
			}
		}
	}
	for _, s := range a.subs {
		s.close()
	}
	if held := a.arena.Held(); held > 0 {
		a.w.fail("%d buffers are held when all is closed: %v", held, a.arena.Ledger())
	}
	if err := a.arena.Close(); err != nil {
		a.w.fail("%v", err)
	}
}

// summary is what a subtask goes on from, for a trace.
func summary(r task.Restored) string {
	s := fmt.Sprintf("%d, finished %v", r.From, r.Finished)
	for uid, op := range r.Operators {
		s += fmt.Sprintf(", %s: %d splits, %d pieces, %d+%d parts", uid, len(op.Splits), len(op.Pieces), len(op.Keyed), len(op.Done))
	}
	for _, f := range r.InFlight {
		list, _ := split(f.Records)
		s += fmt.Sprintf(", %d records of %s %d>%d", len(list), f.Edge, f.From, f.To)
	}
	return s
}

// again counts the records in flight that an earlier attempt than the one that wrote
// the checkpoint had sent: they were restored, and in flight still.
func again(r task.Restored, from *checkpoint.Manifest) (n int) {
	for _, f := range r.InFlight {
		list, _ := split(f.Records)
		for _, b := range list {
			if v, err := decode(b); err == nil && v.Sent>>32 < from.Epoch {
				n++
			}
		}
	}
	return n
}
