package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/overtake-stream/overtake"
)

// stopPatience is how long a last checkpoint may take when the job is told to stop.
const stopPatience = 30 * time.Second

// running is a job that a command runs.
type running struct {
	env    *env
	flags  jobFlags
	h      *overtake.Handle
	cancel context.CancelFunc

	signalled bool       // a second signal stops at once
	stopping  chan error // has what became of the last checkpoint; nil if there is none
	stopped   bool       // the job is to go on with the next start
}

// run runs a job to its end, or until it is told to stop.
func (f jobFlags) run(e *env, build func(overtake.Options) *overtake.Job) error {
	if f.CheckpointDir != "" && f.first() && f.From != "none" {
		if done, err := alreadyFinished(e, f.CheckpointDir); done || err != nil {
			return err
		}
		f.explainFrom(e)
	}
	web, err := f.open()
	if err != nil {
		return err
	}
	defer web.close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	opts := f.options(e)
	closeStore, err := f.slowStore(&opts)
	if err != nil {
		return err
	}
	defer closeStore()
	h, err := build(opts).Start(ctx)
	if err != nil {
		return err
	}
	web.serve(e, f, h)
	r := &running{env: e, flags: f, h: h, cancel: cancel}
	ears := r.listen()
	defer ears.close()
	err = r.wait(signals)
	if err == nil && !r.stopped && f.CheckpointDir != "" && f.first() {
		return markFinished(f.CheckpointDir)
	}
	return err
}

// explainFrom says so if --from is of no effect.
func (f jobFlags) explainFrom(e *env) {
	if f.From == "latest" {
		return
	}
	if v, err := openView(f.CheckpointDir); err == nil && len(v.ids) > 0 {
		e.log.Warn("there are checkpoints already, which go before --from: use another --checkpoint-dir to begin with the savepoint",
			"dir", f.CheckpointDir, "from", f.From)
	}
}

// wait waits for the end, shows progress, and obeys signals.
func (r *running) wait(signals <-chan os.Signal) error {
	show := newProgress(r.env, r.h)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-r.h.Done():
			show.end()
			printLatencies(os.Stderr, r.h.Latencies())
			return r.conclude(r.h.Wait())
		case <-tick.C:
			show.update()
		case s := <-signals:
			r.signal(s)
		case err := <-r.stopping:
			r.stopping = nil
			if err != nil {
				r.env.log.Warn("the last checkpoint failed: the next start goes on from the one before", "error", err)
			}
			r.stopped = true
			r.cancel()
		}
	}
}

// conclude makes a stop that was asked for a success.
func (r *running) conclude(err error) error {
	if r.stopped && errors.Is(err, context.Canceled) {
		err = nil
	}
	if r.stopped && err == nil {
		r.env.log.Info("stopped: the next start goes on from the latest checkpoint", "dir", r.flags.CheckpointDir)
	}
	return err
}

// signal obeys one. With checkpoints SIGTERM does not drain; the process that started
// this one gets its own and decides.
func (r *running) signal(s os.Signal) {
	last := s == syscall.SIGTERM && r.flags.CheckpointDir != ""
	if last && overtake.IsCopy() {
		return
	}
	switch {
	case r.signalled:
		r.cancel()
		signal.Reset(os.Interrupt, syscall.SIGTERM) // the next one ends what does not look up: a function that sleeps
	case last && !r.flags.first():
		r.env.log.Info("stopping at once: the first worker has the checkpoints", "signal", s.String())
		r.cancel()
	case last:
		r.env.log.Info("stopping with a last checkpoint; send another signal to stop at once", "signal", s.String())
		r.stopping = make(chan error, 1)
		go r.stop(r.stopping)
	default:
		r.env.log.Info("finishing what has been read; interrupt again to stop at once", "signal", s.String())
		r.h.Drain()
	}
	r.signalled = true
}

// stop takes the last checkpoint. If the job has ended by itself meanwhile there is
// nothing left to stop.
func (r *running) stop(done chan<- error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	var err error
	if path := r.flags.SavepointOnStop; path != "" {
		if err = r.h.StopWithSavepoint(ctx, path, false); err == nil {
			r.env.log.Info("stopped with a savepoint: the next start goes on from it, with the same checkpoints or with --from", "path", path)
		}
	} else {
		_, err = r.h.Checkpoint(ctx)
	}
	if errors.Is(err, overtake.ErrEnded) || err == nil && r.flags.SavepointOnStop != "" {
		select {
		case <-r.h.Done():
			return
		case <-time.After(time.Second): // only the attempt has ended
		}
	}
	done <- err
}
