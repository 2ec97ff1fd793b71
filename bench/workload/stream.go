package workload

import (
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
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

// NewEvent returns event number n of a stream over so many keys. The amount depends on
// the key alone, so that running totals are the same in whatever order events come.
func NewEvent(n, keys uint64) Event { return eventOf(n, keyOf(n, keys)) }

func keyOf(n, keys uint64) uint64 {
	h := n * 0x9E3779B97F4A7C15 // spreads the keys without a pattern
	return (h ^ h>>29) % keys
}

func eventOf(n, key uint64) Event { return Event{Key: key, Amount: int64(key%100) + 1, Number: n} }

// paced takes some time for a record, if there is any to take. Short times are taken
// together, since a sleep is seldom shorter than a millisecond.
func paced[T any](delay time.Duration) func(T) T {
	var owed atomic.Int64 // by all subtasks
	return func(v T) T {
		if delay > 0 && owed.Add(int64(delay)) >= int64(time.Millisecond) {
			time.Sleep(time.Duration(owed.Swap(0)))
		}
		return v
	}
}

// Throughput moves events through two shuffles and drops them: what the exchange
// can do.
type Throughput struct {
	Count uint64
	Rate  float64       // records/s; 0: as fast as possible
	Delay time.Duration // of the sink, for each record

	Pressure pressure.Config // but for SlowSink and Skew
}

// Job returns the job.
func (w Throughput) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("throughput", w.Pressure.Options(opts))
	events := overtake.From(job, generate.Source(func(n uint64) Event { return NewEvent(n, 1<<20) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"), overtake.WithUID("generate"))
	mapped := overtake.Map(events.Rebalance(), func(e Event) Event { e.Amount++; return e }, overtake.WithUID("map"))
	sink := memory.Discard[Event]()
	if w.Delay > 0 {
		sink = slow(w.Delay)
	}
	overtake.To(stalled(w.Pressure, mapped.Rebalance()), sink, overtake.WithName("discard"), overtake.WithUID("discard"))
	return job
}

// Totals adds up amounts by key: a running keyed aggregate.
type Totals struct {
	Count, Keys uint64
	Rate        float64
	Every       bool                                        // all updates go to the sink, not only the last of each key
	Delay       time.Duration                               // of the sink, for each record
	Sink        overtake.Sink[overtake.Pair[uint64, int64]] // gets the totals

	Pressure pressure.Config // but for SlowSink
}

// Job returns the job.
func (w Totals) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("totals", w.Pressure.Options(opts))
	key := w.Pressure.Keys(w.Keys, func(n uint64) uint64 { return keyOf(n, w.Keys) })
	events := overtake.From(job, generate.Source(func(n uint64) Event { return eventOf(n, key(n)) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"), overtake.WithUID("generate"))
	named := []overtake.OpOption{overtake.WithName("total"), overtake.WithUID("total")}
	if !w.Every {
		named = append(named, overtake.FinalOnly())
	}
	totals := overtake.Aggregate(overtake.KeyBy(events, func(e Event) uint64 { return e.Key }),
		overtake.Aggregator[Event, int64, int64]{
			Add:    func(sum *int64, e Event) { *sum += e.Amount },
			Result: func(sum *int64) int64 { return *sum },
		}, named...)
	totals = overtake.Map(totals, paced[overtake.Pair[uint64, int64]](w.Delay), overtake.WithName("pace"), overtake.WithUID("pace"))
	overtake.To(stalled(w.Pressure, totals), w.Sink, overtake.WithName("write"), overtake.WithUID("write"))
	return job
}

// Backpressure streams events to a sink that takes its time: what a slow consumer
// does to the rest of a job.
type Backpressure struct {
	Count uint64
	Rate  float64
	Delay time.Duration // of the sink, for each record

	Pressure pressure.Config // but for SlowSink and Skew
}

// Job returns the job.
func (w Backpressure) Job(opts overtake.Options) *overtake.Job {
	job := overtake.NewJob("backpressure", w.Pressure.Options(opts))
	events := overtake.From(job, generate.Source(func(n uint64) Event { return NewEvent(n, 1<<10) },
		generate.Options{Count: w.Count, Rate: w.Rate}), overtake.WithName("generate"), overtake.WithUID("generate"))
	mapped := overtake.Map(events.Rebalance(), func(e Event) Event { e.Amount++; return e }, overtake.WithUID("map"))
	overtake.To(stalled(w.Pressure, mapped.Rebalance()), slow(w.Delay), overtake.WithName("slow"), overtake.WithUID("slow"))
	return job
}

// stalled puts a stalled subtask before what follows, if there is one. The jobs have slow
// sinks of their own.
func stalled[T any](c pressure.Config, s overtake.Stream[T]) overtake.Stream[T] {
	return pressure.Before(pressure.Config{Stall: c.Stall, Seed: c.Seed}, s)
}

func slow(delay time.Duration) overtake.Sink[Event] {
	return memory.Func(func(Event) error {
		time.Sleep(delay)
		return nil
	})
}
