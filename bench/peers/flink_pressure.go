package peers

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
)

type record1024 = [128]uint64

// flinkPressure is source, rebalance, map, rebalance, slow sink: how long checkpoints take
// meanwhile.
func flinkPressure(ctx context.Context, p Params, out func(Line)) (err error) {
	store := checkpoint.NewMemory()
	defer func() { err = errors.Join(err, store.Close()) }()
	pair := workerPair{
		name: "pressure", store: store, blobs: func() (checkpoint.Blobs, error) { return store, nil },
		build: func(job *overtake.Job) {
			source := generate.Source(func(n uint64) (r record1024) { r[0] = n; return r }, generate.Options{Count: generate.Forever})
			mapped := overtake.Map(overtake.From(job, source).Rebalance(), func(r record1024) record1024 { return r })
			overtake.To(mapped.Rebalance(), slowSink(time.Duration(p.Int("sink_us"))*time.Microsecond, p["spins"] == "true"))
		},
	}
	pair.options.Network.BufferSize = 8 << 10
	pair.options.Checkpoints.Mode = overtake.Unaligned
	if p["mode"] == "aligned" {
		pair.options.Checkpoints.Mode = overtake.Aligned
	}
	r, err := pair.start(ctx)
	if err != nil {
		return err
	}
	defer r.stop()
	if err := r.heldUp(); err != nil {
		return err
	}
	line, err := r.checkpoints(ctx, p, nil)
	line.Settings = pairSettings(pair.options)
	line.Settings["store"], line.Settings["mode"] = "memory", pair.options.Checkpoints.Mode.String()
	out(line)
	return err
}

// slowSink takes some time for a record.
func slowSink(d time.Duration, spins bool) overtake.Sink[record1024] {
	return memory.Func(func(record1024) error {
		if !spins {
			time.Sleep(d)
			return nil
		}
		for end := time.Now().Add(d); time.Now().Before(end); {
		}
		return nil
	})
}

// heldUp waits until the source of worker 0 has been held up for nearly all of a while.
func (r *runningPair) heldUp() error {
	const look = 500 * time.Millisecond
	last := r.handles[0].Stats()[0]
	for {
		if err := r.alive(); err != nil {
			return err
		}
		time.Sleep(look)
		now := r.handles[0].Stats()[0]
		if now.Backpressured-last.Backpressured > look*time.Duration(now.Subtasks)*9/10 {
			return nil
		}
		last = now
	}
}

// checkpoints takes some, with each called after, and times them from the trigger until they
// are complete. It is the figure "duration".
func (r *runningPair) checkpoints(ctx context.Context, p Params, each func()) (Line, error) {
	var all perf.Histogram
	for i := range p.Int("warmups") + p.Int("checkpoints") {
		began := time.Now()
		if _, err := r.handles[0].Checkpoint(ctx); err != nil {
			return Line{}, err
		}
		if i >= p.Int("warmups") {
			all.Record(int64(time.Since(began)))
		}
		if each != nil {
			each()
		}
	}
	s := all.Snapshot()
	return Line{Metric: "duration", Unit: "s", Value: quantile(&s, 0.5), Records: int64(s.Count()), Percentiles: percentilesOf(&s)}, nil
}

func quantile(s *perf.Snapshot, q float64) float64 { return float64(s.Quantile(q)) / 1e9 }

func percentilesOf(s *perf.Snapshot) *bench.Percentiles {
	return &bench.Percentiles{P50: quantile(s, 0.5), P90: quantile(s, 0.9), P99: quantile(s, 0.99), P999: quantile(s, 0.999), Max: quantile(s, 1)}
}

// flinkPause is how long a counting subtask processes nothing while its state is
// snapshotted.
func flinkPause(ctx context.Context, p Params, out func(Line)) (err error) {
	dir, err := filepath.Abs("checkpoints")
	if err != nil {
		return err
	}
	unsynced := checkpoint.Options{NoSync: true}
	store, err := checkpoint.OpenDir(dir, unsynced)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keys, t := uint64(p.Int("keys")), newTally()
	pair := workerPair{
		name: "pause", store: store, blobs: func() (checkpoint.Blobs, error) { return checkpoint.OpenBlobs(dir, unsynced) },
		build: func(job *overtake.Job) {
			source := generate.Source(func(n uint64) keyed {
				if n < keys {
					return keyed{n, n}
				}
				return keyed{mix(n) % keys, n}
			}, generate.Options{Count: generate.Forever})
			counts := overtake.Count(overtake.KeyBy(overtake.From(job, source, overtake.WithUID("numbers")),
				func(v keyed) uint64 { return v.Key }), overtake.WithUID("count"))
			overtake.To(counts, tallySink[overtake.Pair[uint64, int64]]{t, func(c overtake.Pair[uint64, int64]) uint64 { return uint64(c.Value) }})
		},
	}
	r, err := pair.start(ctx)
	if err != nil {
		return err
	}
	defer r.stop()
	for t.progress.Load() < 2*int64(keys) {
		if err := r.alive(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	line, err := r.checkpoints(ctx, p, func() { time.Sleep(time.Duration(p.Int("spacing_ms")) * time.Millisecond) })
	if err != nil {
		return err
	}
	out(line)
	var all perf.Histogram
	for _, c := range r.handles[0].Checkpoints()[p.Int("warmups"):] {
		all.Record(int64(c.Pause))
	}
	s := all.Snapshot()
	line = Line{Metric: "pause", Unit: "s", Value: quantile(&s, 0.5), Records: int64(s.Count()), Percentiles: percentilesOf(&s)}
	line.Settings = pairSettings(pair.options)
	line.Settings["store"] = "directory, not synced"
	out(line)
	return nil
}
