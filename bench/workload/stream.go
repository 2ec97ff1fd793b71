package workload

import (
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// Event is what the generated jobs stream: 32 bytes.
type Event struct {
	Key    uint64
	Amount int64
	Number uint64
	Filler uint64
}

// NewEvent returns event number n of a stream over so many keys.
func NewEvent(n, keys uint64) Event {
	h := n * 0x9E3779B97F4A7C15 // spreads the keys without a pattern
	return Event{Key: (h ^ h>>29) % keys, Amount: int64(n%100) + 1, Number: n}
}

// Throughput moves events through two shuffles and drops them: what the exchange
// can do.
type Throughput struct {
	Count uint64
	Rate  float64 // records/s; 0: as fast as possible
}

// Job returns the job.
func (w Throughput) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("throughput", opts)
	events := overtake.From(job, generate.Source(func(n uint64) Event { return NewEvent(n, 1<<20) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"))
	mapped := overtake.Map(events.Rebalance(), func(e Event) Event { e.Amount++; return e })
	overtake.To(mapped.Rebalance(), memory.Discard[Event](), overtake.WithName("discard"))
	return job
}

// Totals adds up amounts by key: a running keyed aggregate.
type Totals struct {
	Count, Keys uint64
	Rate        float64
	Sink        overtake.Sink[overtake.Pair[uint64, int64]] // gets the final total of every key
}

// Job returns the job.
func (w Totals) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("totals", opts)
	events := overtake.From(job, generate.Source(func(n uint64) Event { return NewEvent(n, w.Keys) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"))
	totals := overtake.Aggregate(overtake.KeyBy(events, func(e Event) uint64 { return e.Key }),
		overtake.Aggregator[Event, int64, int64]{
			Add:    func(sum *int64, e Event) { *sum += e.Amount },
			Result: func(sum *int64) int64 { return *sum },
		}, overtake.FinalOnly(), overtake.WithName("total"), overtake.WithUID("total"))
	overtake.To(totals, w.Sink, overtake.WithName("write"))
	return job
}

// Backpressure streams events to a sink that takes its time: what a slow consumer
// does to the rest of a job.
type Backpressure struct {
	Count uint64
	Rate  float64
	Delay time.Duration // of the sink, for each record
}

// Job returns the job.
func (w Backpressure) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("backpressure", opts)
	events := overtake.From(job, generate.Source(func(n uint64) Event { return NewEvent(n, 1<<10) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"))
	mapped := overtake.Map(events.Rebalance(), func(e Event) Event { e.Amount++; return e })
	overtake.To(mapped.Rebalance(), memory.Func(func(Event) error {
		time.Sleep(w.Delay)
		return nil
	}), overtake.WithName("slow"))
	return job
}
