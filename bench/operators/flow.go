package operators

import (
	"context"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/connectors/generate"
)

// flow is a job to measure, and its equivalents by hand.
type flow struct {
	name       string
	count      int64 // source records of a full run
	parameters map[string]any

	build func(c Config, job *overtake.Job, n uint64) (total func() uint64)
	plain func(n uint64) uint64 // the sum, by a plain loop
	hands []hand
	goal  *bench.Goal
}

// hand is the same work without this library.
type hand struct {
	name string
	part int64 // of the records that it is given, one in so many
	run  func(width int, n uint64) uint64
}

// ours is the side of the job.
func (f flow) ours(c Config) *side {
	var last *overtake.Handle
	return &side{count: f.count, want: f.plain, run: func(ctx context.Context, n uint64) (uint64, error) {
		job := overtake.NewJob(f.name, c.options())
		total := f.build(c, job, n)
		var err error
		if last, err = job.Start(ctx); err == nil {
			err = last.Wait()
		}
		return total(), err
	}, after: func() error { return bench.Accounts(last) }}
}

// by is the side of work by hand.
func (f flow) by(h hand, width int) *side {
	return &side{count: f.count / h.part, want: f.plain, run: func(_ context.Context, n uint64) (uint64, error) {
		return h.run(width, n), nil
	}}
}

// source makes n records.
func source(job *overtake.Job, keys drawn, n uint64, opts ...overtake.OpOption) overtake.Stream[Event] {
	return overtake.From(job, generate.Source(keys.event, generate.Options{Count: n}), opts...)
}

// into adds up what a stream has.
func into[T any](c Config, s overtake.Stream[T], digest func(T) uint64) func() uint64 {
	to := &sum[T]{digest: digest}
	overtake.To(pressure.Before(c.Pressure, s), overtake.Sink[T](to))
	return to.total.Load
}

// loop adds up what f makes of n records.
func loop(keys drawn, f func(e Event) uint64) func(n uint64) uint64 {
	return func(n uint64) (sum uint64) {
		for i := range n {
			sum += f(keys.event(i))
		}
		return sum
	}
}
