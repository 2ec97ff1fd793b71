package ckpt

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	squeeze "github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
)

// count is a key and how often it has come.
type count = overtake.Pair[uint64, int64]

// counting is a job that counts records by key: the first come once for every key, those
// after them from a window of keys.
type counting struct {
	Keys, Window uint64
	Parallelism  int
	Mode         overtake.CheckpointMode
	Dir          string // of the store
	More         squeeze.Config

	base    *atomic.Uint64        // where the window begins
	pressed *atomic.Bool          // delays have begun; nil: they have from the start
	place   func(n uint64) uint64 // where in the window the key of record number n is
	store   checkpoint.Store      // instead of Dir; nil: none
}

// ready returns the job with what a copy of this program does not get as text.
func (c counting) ready() counting {
	c.base = new(atomic.Uint64)
	if c.More.Skew == 0 {
		c.place = func(n uint64) uint64 {
			in, _ := bits.Mul64(n*0x9E3779B97F4A7C15, c.Window) // spread over the window
			return in
		}
		return c
	}
	keys := sync.OnceValue(func() func(uint64) uint64 { return c.More.Keys(c.Window, nil) })
	go keys() // while the state is restored, which takes as long
	c.place = func(n uint64) uint64 { return keys()(n) }
	return c
}

// record is the key of record number n.
func (c counting) record(n uint64) uint64 {
	if n < c.Keys {
		return n
	}
	return (c.base.Load() + c.place(n)) % c.Keys
}

// job returns the job. Checkpoints are taken on request only.
func (c counting) job(sink overtake.Sink[count]) *overtake.Job {
	opts := overtake.Options{Parallelism: c.Parallelism, StateMemory: 16 << 30}
	opts.Checkpoints = overtake.Checkpoints{Dir: c.Dir, Interval: -1, Mode: c.Mode}
	if c.store != nil {
		opts.Checkpoints.Dir, opts.Checkpoints.Store = "", c.store
	}
	opts.Restart.Attempts = -1
	job := overtake.NewJob("count", c.More.Options(opts))
	numbers := overtake.From(job, generate.Source(c.record, generate.Options{Count: generate.Forever}),
		overtake.WithName("generate"), overtake.WithUID("generate"))
	counts := overtake.Count(overtake.KeyBy(numbers, func(k uint64) uint64 { return k }), overtake.WithUID("count"))
	overtake.To(squeeze.BeforeOnce(c.More, c.pressed, counts), sink, overtake.WithUID("sink"))
	return job
}

// counted is how many records have been counted.
func counted(h *overtake.Handle) uint64 { return h.Stats()[1].Records }

// poll is how often a condition is looked at that nobody reports.
const poll = 5 * time.Millisecond

// loaded waits until all keys have been counted once.
func (c counting) loaded(ctx context.Context, h *overtake.Handle) error {
	return until(ctx, h, func() bool { return counted(h) >= c.Keys })
}

// until waits for a condition, or the end of the job.
func until(ctx context.Context, h *overtake.Handle, done func() bool) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-h.Done():
			return ended(h)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ended says that a job that was to go on has ended.
func ended(h *overtake.Handle) error {
	if err := h.Wait(); err != nil {
		return err
	}
	return errEnded
}
