package ckpt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	squeeze "github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// Kinds of stores.
const (
	inMemory = "memory"
	unsynced = "directory without syncs"
	durable  = "directory, synced"
)

// pressure is a job whose sink is slow: source, map and sink, with a rebalance before
// each of the last two.
type pressure struct {
	Sink      time.Duration // that it takes for a record
	Spin      bool          // the sink uses the processor meanwhile
	Record    int           // bytes: 64 or 1024
	Burst     int           // records that the map makes of one; 1 is a plain map
	Mode      overtake.CheckpointMode
	Alignment time.Duration // AlignmentTimeout
	Store     string
	Processes int // 1 or 2
	Buffer    int // bytes
	Width     int // parallelism of all operators
	More      squeeze.Config

	Dir     string   // of the store
	Workers []string // addresses
}

// name has the parameters that differ between cases.
func (p pressure) name() string {
	s := "map"
	if p.Burst > 1 {
		s = fmt.Sprintf("flatmap%d", p.Burst)
	}
	place := map[string]string{inMemory: "memory", unsynced: "nosync", durable: "disk"}[p.Store]
	return fmt.Sprintf("%s/%dB/%dKiB/%s/%dp/%s/sink-%v", s, p.Record, p.Buffer>>10, place, p.Processes, p.Mode, p.Sink)
}

func (p pressure) parameters() map[string]any {
	return map[string]any{
		"sink_seconds": p.Sink.Seconds(), "sink_spins": p.Spin, "record": p.Record, "burst": p.Burst, "mode": p.Mode.String(),
		"alignment_timeout_seconds": p.Alignment.Seconds(), "store": p.Store, "processes": p.Processes, "buffer": p.Buffer, "parallelism": p.Width,
	}
}

// options are those of one worker.
func (p pressure) options(index int, store checkpoint.Store, blobs checkpoint.Blobs) overtake.Options {
	o := overtake.Options{Parallelism: p.Width}
	o.Network.BufferSize = p.Buffer
	o.Checkpoints = overtake.Checkpoints{
		Store: store, Blobs: blobs, Interval: -1, Mode: p.Mode, AlignmentTimeout: p.Alignment,
	}
	o.Restart.Attempts = -1
	if p.Processes > 1 {
		o.Cluster = overtake.Cluster{Workers: p.Workers, Index: index}
	}
	return p.More.Options(o)
}

// record64 and record1K are records of two sizes.
type (
	record64 = [8]uint64
	record1K = [128]uint64
)

// job builds the job.
func (p pressure) job(o overtake.Options) *overtake.Job {
	job := overtake.NewJob("backpressure", o)
	if p.Record == 64 {
		build(p, job, func(n uint64) (r record64) { r[0] = n; return r })
	} else {
		build(p, job, func(n uint64) (r record1K) { r[0] = n; return r })
	}
	return job
}

func build[T any](p pressure, job *overtake.Job, f func(n uint64) T) {
	records := overtake.From(job, generate.Source(f, generate.Options{Count: generate.Forever})).Rebalance()
	var mapped overtake.Stream[T]
	if p.Burst > 1 {
		mapped = overtake.FlatMap(records, func(v T, out overtake.Collector[T]) {
			for range p.Burst {
				out.Collect(v)
			}
		})
	} else {
		mapped = overtake.Map(records, func(v T) T { return v })
	}
	slowed := squeeze.Before(squeeze.Config{Stall: p.More.Stall, Seed: p.More.Seed}, mapped.Rebalance())
	overtake.To(slowed, memory.Func(func(T) error {
		if p.Spin {
			for end := time.Now().Add(p.Sink); time.Now().Before(end); {
			}
		} else {
			time.Sleep(p.Sink)
		}
		return nil
	}))
}

// running is a job under measurement.
type running struct {
	p      pressure
	h      *overtake.Handle
	cancel context.CancelFunc
	store  checkpoint.Store
	other  *copied // nil with one process
}

// start starts the job and waits until its source is held up.
func (p pressure) start(ctx context.Context, folder string) (r *running, err error) {
	if p.Dir, err = os.MkdirTemp(folder, "overtake-pressure-"); err != nil {
		return nil, err
	}
	r = &running{p: p}
	defer func() {
		if err != nil {
			_ = r.close()
		}
	}()
	if p.Store == inMemory {
		r.store = checkpoint.NewMemory()
	} else if r.store, err = checkpoint.OpenDir(r.dir(), checkpoint.Options{NoSync: p.Store == unsynced}); err != nil {
		return r, err
	}
	if p.Processes > 1 {
		if p.Workers, err = bench.FreeAddresses(p.Processes); err != nil {
			return r, err
		}
		if r.other, err = startCopy(ctx, task{Role: roleWorker, Pressure: p, Dir: r.dir()}); err != nil {
			return r, err
		}
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	store := p.More.Store(r.store)
	if r.h, err = p.job(p.options(0, store, store)).Start(own); err != nil {
		return r, err
	}
	return r, r.heldUp(ctx)
}

func (r *running) dir() string { return filepath.Join(r.p.Dir, "store") }

// heldUp waits until the source of this worker has been held up for nearly all of some
// time.
func (r *running) heldUp(ctx context.Context) error {
	const look = 100 * time.Millisecond
	last, at := r.h.Stats()[0], time.Now()
	return until(ctx, r.h, func() bool {
		elapsed := time.Since(at)
		if elapsed < look {
			return false
		}
		now := r.h.Stats()[0]
		share := float64(now.Backpressured-last.Backpressured) / float64(elapsed) / float64(now.Subtasks)
		last, at = now, time.Now()
		return share > 0.9
	})
}

// close ends the job and all that was started for it.
func (r *running) close() error {
	if r.cancel != nil {
		r.cancel()
	}
	if r.h != nil {
		_ = r.h.Wait() // it was cancelled
	}
	r.other.kill()
	if r.store != nil {
		_ = r.store.Close() // what is in it is deleted
	}
	return os.RemoveAll(r.p.Dir)
}
