package overtake

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/unaligned"
)

// worker runs this process's share of a job.
type worker struct {
	// constant after newWorker
	plan        *plan
	index       int
	clock       perf.Clock
	arena       *bufferpool.Arena
	stack       *netstack.Stack // nil when there is no other worker
	subtasks    []*subtask
	cancel      context.CancelCauseFunc
	ctx         context.Context
	finished    chan struct{} // every worker has finished
	keep        *keeper       // nil without checkpoints
	coordinator *coordinator  // the first worker's, with checkpoints
	started     chan start    // what the first worker has told the others

	sending sync.Mutex     // of messages that may come in several pieces
	parts   map[int][]byte // of such messages, by peer; the I/O loop's

	mu struct {
		sync.Mutex
		done map[int]bool // workers whose subtasks have all ended well
		err  error        // the first failure
	}
}

// newWorker builds everything; nothing runs before run. On error nothing is left.
func newWorker(ctx context.Context, p *plan, place place, k *keeper) (_ *worker, err error) {
	w := &worker{plan: p, index: place.index, finished: make(chan struct{}), keep: k, clock: p.job.clock}
	w.started, w.parts = make(chan start, 1), map[int][]byte{}
	w.mu.done = map[int]bool{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if w.clock == nil {
		w.clock = perf.NewClock()
	}
	net := p.job.opts.Network
	w.arena, err = bufferpool.New(bufferpool.Options{SegmentSize: net.BufferSize, Budget: net.Memory})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.dismantle())
		}
	}()
	if p.workers > 1 {
		if w.stack, err = netstack.NewStack(w.stackOptions(place)); err != nil {
			return nil, err
		}
	}
	if err = w.clearState(); err == nil {
		err = w.build()
	}
	if err == nil {
		err = w.wire()
	}
	if err == nil && k != nil && w.index == 0 {
		w.coordinator, err = newCoordinator(w)
	}
	if err != nil {
		return nil, fmt.Errorf("overtake: job %q: %w", p.job.name, err)
	}
	return w, nil
}

func (w *worker) build() error {
	b := &builder{plan: w.plan, arena: w.arena, ctx: w.ctx, clock: w.clock, stack: w.stack, keep: w.keep, tell: w.notify, stateDir: w.stateDir()}
	if w.keep != nil {
		b.combiner = unaligned.NewCombiner(w.keep.blobs)
	}
	for _, head := range w.plan.heads {
		for i := range head.parallelism {
			if w.plan.worker(head, i) != w.index {
				continue
			}
			sub, err := b.subtask(head, i)
			w.subtasks = append(w.subtasks, sub)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// wire connects partitions and gates, those of other workers through the stack.
func (w *worker) wire() error {
	type place struct {
		head  *node
		index int
	}
	local := map[place]*subtask{}
	for _, s := range w.subtasks {
		local[place{s.head, s.index}] = s
	}
	for _, s := range w.subtasks {
		for e, p := range s.outs {
			first, end := e.targets(s.index)
			for to := first; to < end; to++ {
				if r := local[place{e.to, to}]; r != nil {
					netstack.ConnectLocal(p, to-first, r.gate, channelOf(r.gate, e, s.index, to))
				} else if err := w.stack.BindOut(w.plan.worker(e.to, to), w.plan.channel(e, s.index, to), p, to-first); err != nil {
					return err
				}
			}
		}
		if err := w.bindInputs(s); err != nil {
			return err
		}
	}
	return nil
}

// bindInputs connects the channels of a gate that come from other workers.
func (w *worker) bindInputs(s *subtask) error {
	for _, e := range s.head.inputs {
		for i, from := range e.senders(s.index) {
			head := headOf(e.from)
			peer := w.plan.worker(head, from)
			if peer == w.index {
				continue
			}
			if err := w.stack.BindIn(peer, w.plan.channel(e, from, s.index), s.gate, s.gate.Channel(e.input, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// headOf is the first operator of n's chain.
func headOf(n *node) *node {
	for len(n.inputs) > 0 && n.inputs[0].fused() {
		n = n.inputs[0].from
	}
	return n
}

func channelOf(g *netstack.Gate, e *edge, from, to int) int {
	for i, s := range e.senders(to) {
		if s == from {
			return g.Channel(e.input, i)
		}
	}
	panic(fmt.Sprintf("overtake: subtask %d does not send to %d", from, to))
}

// run runs the subtasks to their end and waits for the other workers. It leaves
// nothing behind.
func (w *worker) run() error {
	if w.stack != nil {
		if err := w.stack.Start(w.ctx); err != nil {
			w.fail(err)
		}
	}
	stop := context.AfterFunc(w.ctx, w.cancelled)
	defer stop()
	if err := w.begin(); err != nil {
		w.fail(err)
	}
	var running sync.WaitGroup
	for _, s := range w.subtasks {
		running.Add(1)
		go func() {
			defer running.Done()
			pprof.Do(w.ctx, s.labels(), func(context.Context) { w.ended(s.task.Run()) })
		}()
	}
	if w.coordinator != nil {
		go w.coordinator.run()
	}
	ended, tidy := make(chan struct{}), sync.WaitGroup{}
	tidy.Go(func() { w.freeIdle(ended) })
	running.Wait()
	close(ended)
	tidy.Wait()
	w.finish()
	if w.coordinator != nil {
		<-w.coordinator.over // it has ended the job, or the job has failed
	}
	return errors.Join(w.result(), w.dismantle())
}

// labels tell profiles of the program whose time it is. What a subtask starts inherits them.
func (s *subtask) labels() pprof.LabelSet {
	return pprof.Labels("operator", chainName(s.head), "subtask", strconv.Itoa(s.index))
}

// pruneCopies removes the local copies that the attempt does not go on from.
func (w *worker) pruneCopies() {
	if w.keep.local == nil {
		return
	}
	needed := map[checkpoint.BlobName]checkpoint.BlobRef{}
	if w.keep.from != nil && w.keep.own {
		needed = w.keep.from.BlobSet()
	}
	err := w.keep.local.Prune(func(n checkpoint.BlobName) bool { _, ok := needed[n]; return ok })
	if err != nil {
		w.keep.job.opts.Log.Warn("old local copies of checkpoints were not removed", "error", err)
	}
}

// begin gives the subtasks what they go on from.
func (w *worker) begin() error {
	if w.keep == nil || w.ctx.Err() != nil {
		return nil
	}
	if w.index == 0 {
		w.tell(encode(msgStart, w.keep.start()))
	} else {
		select {
		case s := <-w.started:
			if err := w.keep.follow(w.ctx, s); err != nil {
				return err
			}
		case <-w.ctx.Done():
			return nil
		}
	}
	w.pruneCopies()
	d, err := newDealer(w.ctx, w.plan, w.keep)
	if err != nil {
		return err
	}
	for _, s := range w.subtasks {
		share, err := d.Share(s.receiver())
		if err != nil {
			return err
		}
		s.task.Restore(share, w.keep.last)
	}
	return nil
}

// ended takes the result of one subtask.
func (w *worker) ended(err error) {
	if err != nil && !errors.Is(err, task.ErrCancelled) {
		w.fail(err)
	}
}

// fail ends the job's attempt: the first error wins, here and on all workers.
func (w *worker) fail(err error) {
	w.mu.Lock()
	first := w.mu.err == nil
	if first {
		w.mu.err = err
	}
	w.mu.Unlock()
	if first {
		w.tell(message{kind: msgFailed, text: err.Error()})
		w.cancel(err)
	}
}

// cancelled stops the subtasks when the job has failed, or its caller has had enough.
func (w *worker) cancelled() {
	w.fail(context.Cause(w.ctx))
	for _, s := range w.subtasks {
		s.task.Cancel()
	}
}

// result is the error of the whole: the first failure, or why it was cancelled.
func (w *worker) result() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.err != nil {
		return w.mu.err
	}
	return context.Cause(w.ctx)
}

// dismantle gives everything back.
func (w *worker) dismantle() error {
	defer w.cancel(nil)
	var err error
	if w.stack != nil {
		err = w.stack.Close()
	}
	if w.result() != nil {
		err = nil // what Close says of a failed job has been said
	}
	for _, s := range w.subtasks {
		s.close()
	}
	return errors.Join(err, w.clearState(), w.arena.Close())
}

// close drops what a subtask that never ran, or has ended, still has.
func (s *subtask) close() {
	for _, p := range s.outs {
		p.Cancel()
		p.Close()
	}
	if s.gate != nil {
		s.gate.Close()
	}
	if s.state != nil {
		_ = s.state.Close() // nothing can read it any more
	}
}
