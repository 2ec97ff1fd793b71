package peers

import (
	"context"
	"errors"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/checkpoint"
)

// workerPair is a job on two workers in this process, with half of the subtasks each, which
// exchange records over loopback TCP: as two task managers of Flink in one Java process do.
type workerPair struct {
	name    string
	options overtake.Options
	build   func(job *overtake.Job)
	job     func(worker int, o overtake.Options) *overtake.Job // instead of name and build
	// blobs gives a worker access to the store of checkpoints; nil: no checkpoints.
	store checkpoint.Store
	blobs func() (checkpoint.Blobs, error)
}

// parallelism is that of all jobs on both sides.
const parallelism = 2

// runningPair is such a job while it runs.
type runningPair struct {
	handles []*overtake.Handle // of worker 0, which coordinates, and worker 1
	cancel  context.CancelFunc
}

// start starts both workers.
func (w workerPair) start(ctx context.Context) (*runningPair, error) {
	addrs, err := bench.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &runningPair{cancel: cancel}
	for i := range addrs {
		o := w.options
		o.Parallelism, o.Restart.Attempts = parallelism, -1
		o.Cluster = overtake.Cluster{Workers: addrs, Index: i}
		if w.store != nil {
			o.Checkpoints.Interval, o.Checkpoints.Store = -1, w.store
			if i > 0 {
				o.Checkpoints.Store = checkpoint.NewMemory() // only the first worker's is used
			}
			if o.Checkpoints.Blobs, err = w.blobs(); err != nil {
				r.stop()
				return nil, err
			}
		}
		h, err := w.make(i, o).Start(ctx)
		if err != nil {
			r.stop()
			return nil, err
		}
		r.handles = append(r.handles, h)
	}
	return r, nil
}

func (w workerPair) make(worker int, o overtake.Options) *overtake.Job {
	if w.job != nil {
		return w.job(worker, o)
	}
	job := overtake.NewJob(w.name, o)
	w.build(job)
	return job
}

// wait waits for the end of the job.
func (r *runningPair) wait() error {
	var errs []error
	for _, h := range r.handles {
		errs = append(errs, h.Wait())
	}
	r.cancel()
	return errors.Join(errs...)
}

// stop ends the job at once. What the workers say of their ends is no failure.
func (r *runningPair) stop() {
	r.cancel()
	for _, h := range r.handles {
		_ = h.Wait()
	}
}

// alive returns why the job has ended, if it has.
func (r *runningPair) alive() error {
	for _, h := range r.handles {
		select {
		case <-h.Done():
			return errors.Join(errors.New("the job has ended too early"), h.Wait())
		default:
		}
	}
	return nil
}

// run runs the job to its end.
func (w workerPair) run(ctx context.Context) error {
	r, err := w.start(ctx)
	if err != nil {
		return err
	}
	return r.wait()
}

// pairSettings says how both workers are set up.
func pairSettings(o overtake.Options) map[string]any {
	buffer := o.Network.BufferSize
	if buffer == 0 {
		buffer = 32 << 10
	}
	return map[string]any{
		"workers": "2 in one process, over loopback TCP", "parallelism": parallelism, "buffer": buffer, "others": "defaults",
	}
}
