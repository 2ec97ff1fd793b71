package ckpt

import (
	"context"
	"errors"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf"
)

// pressed measures checkpoints of a job under backpressure, with a job of its own for
// every measurement.
type pressed struct {
	pressure
	cfg   Config
	count int // checkpoints of a measurement

	taken   []overtake.CheckpointStats // of all measurements
	cut     int                        // checkpoints that took longer than patience
	flights []float64                  // bytes in flight, typical of each measurement
}

// latency takes the checkpoints of one measurement.
func (p *pressed) latency(ctx context.Context, _ bench.Size, into *perf.Histogram) (err error) {
	r, err := p.start(ctx, p.cfg.Folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for range p.count {
		took, err := r.take(ctx, p.cfg.Patience)
		if err != nil {
			return err
		}
		into.Record(int64(took))
		if took >= p.cfg.Patience {
			p.cut++
			break
		}
	}
	if err := bench.Accounts(r.h); err != nil {
		return err
	}
	taken := r.h.Checkpoints()
	p.taken = append(p.taken, taken...)
	p.flights = append(p.flights, median(taken, func(c overtake.CheckpointStats) int64 { return c.InFlight }))
	return nil
}

// take takes a checkpoint and says how long that took, at most patience.
func (r *running) take(ctx context.Context, patience time.Duration) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	_, err := r.h.Checkpoint(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return patience, nil
	}
	return time.Since(began), err
}

// flight is the bytes in flight of each measurement that latency has taken, again.
func (p *pressed) flight() bench.Measure {
	next := 0
	return func(ctx context.Context, s bench.Size) (float64, error) {
		if next == len(p.flights) {
			if err := p.latency(ctx, s, &perf.Histogram{}); err != nil {
				return 0, err
			}
		}
		next++
		return p.flights[next-1], nil
	}
}

// annotate adds what is known of all measurements together.
func (p *pressed) annotate(into map[string]any) {
	into["checkpoints"], into["cut_at_patience"] = len(p.taken), p.cut
	into["patience_seconds"] = p.cfg.Patience.Seconds()
	of := func(name string, f func(overtake.CheckpointStats) int64) { into[name] = median(p.taken, f) }
	of("bytes_in_flight", func(c overtake.CheckpointStats) int64 { return c.InFlight })
	of("bytes_written", func(c overtake.CheckpointStats) int64 { return c.Bytes })
	seconds := func(name string, f func(overtake.CheckpointStats) time.Duration) {
		into[name] = median(p.taken, func(c overtake.CheckpointStats) int64 { return int64(f(c)) }) / 1e9
	}
	seconds("first_barrier_seconds", func(c overtake.CheckpointStats) time.Duration { return c.Delay })
	seconds("align_seconds", func(c overtake.CheckpointStats) time.Duration { return c.Align })
	seconds("pause_seconds", func(c overtake.CheckpointStats) time.Duration { return c.Pause })
	seconds("until_durable_seconds", func(c overtake.CheckpointStats) time.Duration { return c.Duration })
	overtook := 0
	for _, c := range p.taken {
		if c.Overtook {
			overtook++
		}
	}
	into["overtook"] = overtook
}
