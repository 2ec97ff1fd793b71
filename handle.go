package overtake

import (
	"context"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Handle is a running job. Its methods may be called by any goroutine.
type Handle struct {
	worker *worker
	copies *copies
	done   chan struct{}
	err    error // valid once done is closed
}

// Start starts the job and returns at once. On error nothing is left running.
func (j *Job) Start(ctx context.Context) (*Handle, error) {
	if err := j.validate(); err != nil {
		return nil, err
	}
	at, copies, err := j.findPlace(ctx)
	if err != nil {
		return nil, err
	}
	w, err := newWorker(ctx, newPlan(j, len(at.addresses)), at)
	if err != nil {
		copies.kill()
		return nil, err
	}
	h := &Handle{worker: w, copies: copies, done: make(chan struct{})}
	copies.watch(w.fail)
	go h.run()
	return h, nil
}

func (h *Handle) run() {
	defer close(h.done)
	h.err = h.worker.run()
	h.copies.stop()
}

// Wait waits for the end of the job and returns what Run would.
func (h *Handle) Wait() error {
	<-h.done
	return h.err
}

// Done is closed when the job has ended.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Drain makes all sources end, on all workers. Everything they have read so far
// is processed; then Wait returns nil. It does not wait.
func (h *Handle) Drain() { h.worker.drain() }

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
	for _, s := range h.worker.subtasks {
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
func (h *Handle) Buffers() bufferpool.Ledger { return h.worker.arena.Ledger() }
