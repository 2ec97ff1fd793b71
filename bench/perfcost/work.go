package perfcost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
)

// Work is a job to measure.
type Work struct {
	Job     string  // "exchange", "keyBy", "workers"
	Records uint64  // altogether
	Rate    float64 // of records a second, for latencies; 0: as fast as can be

	Pressure pressure.Config // on the job; Skew is for "keyBy" only
}

// Outcome is what became of it.
type Outcome struct {
	Measured bool    // an account was kept
	Seconds  float64 // until the last record was through
	CPU      float64 // seconds, of all threads
	P50, P99 float64 // seconds from when a record was due until the sink had it; with Rate
	Read     uint64  // records that the last operators have read
	Err      string  `json:",omitempty"` // why it failed, from another process
}

// Do runs the job in this process.
func (w Work) Do(ctx context.Context) (o Outcome, err error) {
	o.Measured = perf.Enabled
	var latencies perf.Histogram
	start := time.Now()
	if w.Rate > 0 {
		start = start.Add(20 * time.Millisecond) // all subtasks run by then
	}
	cpu := bench.CPUSeconds()
	switch w.Job {
	case "exchange":
		o.Read, err = w.run(ctx, w.build(overtake.Options{Parallelism: 1}, start, &latencies, exchange))
	case "keyBy":
		o.Read, err = w.run(ctx, w.build(overtake.Options{Parallelism: 2}, start, &latencies, w.keyed()))
	case "workers":
		o.Read, err = w.workers(ctx, start, &latencies)
	default:
		return o, fmt.Errorf("perfcost: there is no job %q", w.Job)
	}
	o.Seconds, o.CPU = time.Since(start).Seconds(), bench.CPUSeconds()-cpu
	if err == nil && o.Read < w.Records {
		err = fmt.Errorf("perfcost: %d records have come through, want %d", o.Read, w.Records)
	}
	s := latencies.Snapshot()
	o.P50, o.P99 = float64(s.Quantile(0.5))/1e9, float64(s.Quantile(0.99))/1e9
	return o, err
}

// shape is what a job has between source and sink.
type shape func(in overtake.Stream[uint64]) overtake.Stream[uint64]

// exchange has two exchanges of 8-byte values, and next to no work.
func exchange(in overtake.Stream[uint64]) overtake.Stream[uint64] {
	return overtake.Map(in.Rebalance(), func(v uint64) uint64 { return v }).Rebalance()
}

// keyed keeps the last value of each of 1024 keys.
func (w Work) keyed() shape {
	const keys = 1024
	key := w.Pressure.Keys(keys, func(v uint64) uint64 { return v % keys })
	return func(in overtake.Stream[uint64]) overtake.Stream[uint64] {
		last := overtake.Reduce(overtake.KeyBy(in, key), func(_, b uint64) uint64 { return b }, overtake.WithUID("last"))
		return last.Rebalance()
	}
}

func (w Work) build(opts overtake.Options, start time.Time, latencies *perf.Histogram, between shape) *overtake.Job {
	job := overtake.NewJob("perfcost", w.Pressure.Options(opts))
	from := generate.Options{Count: w.Records, Rate: w.Rate}
	sink := memory.Discard[uint64]()
	if w.Rate > 0 {
		from.Start = start
		warm := w.Records / 10 // not measured
		sink = memory.Func(func(v uint64) error {
			if v >= warm {
				latencies.Record(int64(time.Since(start) - time.Duration(float64(v)/w.Rate*1e9)))
			}
			return nil
		})
	}
	in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, from))
	overtake.To(pressure.Before(w.Pressure, between(in)), sink)
	return job
}

// run runs a job, and returns how many records its last operators have read here.
func (w Work) run(ctx context.Context, job *overtake.Job) (uint64, error) {
	h, err := job.Start(ctx)
	if err != nil {
		return 0, err
	}
	err = h.Wait()
	all := h.Stats()
	if err == nil {
		err = bench.Accounts(h)
	}
	return all[len(all)-1].Records, err
}

// workers runs the exchange between two workers of this process, over Unix sockets.
func (w Work) workers(ctx context.Context, start time.Time, latencies *perf.Histogram) (uint64, error) {
	dir, err := os.MkdirTemp("", "perfcost-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var addresses []string
	for i := range 2 {
		addresses = append(addresses, filepath.Join(dir, strconv.Itoa(i)))
	}
	read, errs := [2]uint64{}, [2]error{}
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			opts := overtake.Options{Parallelism: 2, Cluster: overtake.Cluster{Workers: addresses, Index: i, Network: "unix"}}
			read[i], errs[i] = w.run(ctx, w.build(opts, start, latencies, exchange))
		})
	}
	both.Wait()
	return read[0] + read[1], errors.Join(errs[:]...)
}
