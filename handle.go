package overtake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/operators"
)

// Handle is a running job. Its methods may be called by any goroutine.
type Handle struct {
	job   *Job
	ctx   context.Context
	keep  *keeper // nil without checkpoints
	done  chan struct{}
	err   error        // valid once done is closed
	using sync.RWMutex // read-locked while the store is used by others than the job

	mu struct {
		sync.Mutex
		attempt  *attempt // the present one
		drained  bool
		history  []CheckpointStats // of earlier attempts
		restarts int
	}
}

// attempt is one try to run the job to its end.
type attempt struct {
	worker *worker
	copies *copies
}

// Start starts the job and returns at once. On error nothing is left running.
func (j *Job) Start(ctx context.Context) (*Handle, error) {
	if err := j.validate(); err != nil {
		return nil, err
	}
	keep, err := newKeeper(j, j.index())
	if err != nil {
		return nil, err
	}
	h := &Handle{job: j, ctx: ctx, keep: keep, done: make(chan struct{})}
	a, err := h.attempt()
	if err != nil {
		return nil, errors.Join(err, keep.close())
	}
	h.mu.attempt = a
	go h.run(a)
	return h, nil
}

// attempt builds everything for the next try.
func (h *Handle) attempt() (*attempt, error) {
	if err := h.keep.next(h.ctx); err != nil {
		return nil, fmt.Errorf("overtake: job %q: %w", h.job.name, err)
	}
	at, copies, err := h.job.findPlace(h.ctx, h.keep.currentEpoch())
	if err != nil {
		return nil, err
	}
	if h.keep != nil && at.epoch > 0 {
		h.keep.epoch = at.epoch
	}
	w, err := newWorker(h.ctx, newPlan(h.job, len(at.addresses)), at, h.keep)
	if err != nil {
		copies.kill()
		return nil, err
	}
	copies.watch(w.fail)
	return &attempt{worker: w, copies: copies}, nil
}

// run runs attempts until one succeeds, or failure is final.
func (h *Handle) run(a *attempt) {
	defer close(h.done)
	again := newRestarts(h.job.opts.Restart)
	for {
		err := a.worker.run()
		a.copies.end(err)
		next, err := h.restart(a, again, err)
		if next == nil {
			h.err = h.conclude(cancelled(h.ctx, err))
			return
		}
		a = next
	}
}

// restart makes the next attempt after one has ended with err. A store that cannot be asked
// fails an attempt as well. Without another attempt, it returns the last one's error.
func (h *Handle) restart(old *attempt, again *restarts, err error) (*attempt, error) {
	for {
		wait, ok := h.again(again, err)
		if err == nil || h.keep == nil || h.ctx.Err() != nil || !h.restartable(err) || !ok {
			return nil, err
		}
		h.job.opts.Log.Warn("the job failed and is restarted", "error", err, "in", wait)
		select {
		case <-time.After(wait):
		case <-h.ctx.Done():
			return nil, err
		}
		var next *attempt
		if next, err = h.attempt(); err == nil {
			h.enter(old, next)
			return next, nil
		}
	}
}

// cancelled is err, and why the job was cancelled if it was: it may have failed by itself at
// the same moment.
func cancelled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}
	return err
}

// again says how long to wait after a failure, and whether to try again. A worker that
// was refused because the others are ahead follows them at once.
func (h *Handle) again(r *restarts, err error) (wait time.Duration, again bool) {
	if h.keep != nil && h.keep.store == nil {
		if epoch, ok := netstack.NewerEpoch(err, h.keep.epoch); ok {
			h.keep.epoch = epoch
			return 0, true
		}
	}
	return r.after(err, time.Now())
}

// enter makes next the present attempt.
func (h *Handle) enter(old, next *attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := old.worker.coordinator; c != nil {
		h.mu.history = append(h.mu.history, c.history()...)
	}
	h.mu.attempt = next
	h.mu.restarts++
	if h.mu.drained {
		next.worker.drain()
	}
}

// restartable reports whether another attempt can do better than the one that failed
// with err. A copy leaves that to the process that started it.
func (h *Handle) restartable(err error) bool {
	return !IsCopy() && !errors.Is(err, ErrRestore) && !errors.Is(err, ErrDamaged) && !errors.Is(err, operators.ErrLayout)
}

// conclude ends what outlives the attempts.
func (h *Handle) conclude(err error) error {
	if h.keep != nil && h.keep.store != nil && h.keep.opts.DeleteOnEnd && (err == nil || h.ctx.Err() != nil) {
		err = errors.Join(err, h.keep.clear())
	}
	h.using.Lock() // what was asked for is copied, or has been refused
	defer h.using.Unlock()
	h.sweep()
	return errors.Join(err, h.keep.close())
}

// sweep removes what subtasks have written for checkpoints that were given up: all of
// them have ended.
func (h *Handle) sweep() {
	if h.keep == nil || h.keep.store == nil {
		return
	}
	_, err := h.keep.store.Sweep(context.Background(), func(checkpoint.BlobName) bool { return false })
	if err != nil {
		h.job.opts.Log.Warn("blobs of checkpoints that were given up were not deleted", "error", err)
	}
}

// present is the present attempt.
func (h *Handle) present() *attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.attempt
}

// Wait waits for the end of the job and returns what Run would.
func (h *Handle) Wait() error {
	<-h.done
	return h.err
}

// ended reports whether the job has ended.
func (h *Handle) ended() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// Done is closed when the job has ended.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Drain makes all sources end, on all workers. Everything they have read so far
// is processed; then Wait returns nil. It does not wait.
func (h *Handle) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.drained = true
	h.mu.attempt.worker.drain()
}

// OperatorStats is what the subtasks of one chain of operators, on this worker,
// have done so far.
type OperatorStats struct {
	Name          string        // the names of the chain's operators: "source -> map"
	Subtasks      int           // on this worker
	Records       uint64        // taken from the source or the input
	Busy          time.Duration // summed over the subtasks, like the next two
	Idle          time.Duration // waiting for input
	Backpressured time.Duration // waiting for output
}

// Stats returns what this worker's subtasks have done so far, in the order in
// which the operators were added to the job.
func (h *Handle) Stats() []OperatorStats {
	var all []OperatorStats
	var last *node
	for _, s := range h.present().worker.subtasks {
		if s.head != last {
			last = s.head
			all = append(all, OperatorStats{Name: chainName(last)})
		}
		o, t := &all[len(all)-1], s.task.Stats()
		o.Subtasks++
		o.Records += t.Records
		o.Busy += t.Time.Busy
		o.Idle += t.Time.Idle
		o.Backpressured += t.Time.Backpressured
	}
	return all
}

// Buffers returns who holds this worker's network buffers.
func (h *Handle) Buffers() bufferpool.Ledger { return h.present().worker.arena.Ledger() }
