package overtake_test

import (
	"slices"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// A key without bytes is a key: it has windows, and so timers.
func TestWindowsOfAnEmptyKey(t *testing.T) {
	results := make(chan overtake.Windowed[string, int64], 10)
	job := overtake.NewJob("empty key", overtake.Options{Parallelism: 1})
	timed := overtake.AssignTimes(overtake.From(job, memory.Slice[uint64](1, 2, 1500)), own, 0)
	counts := overtake.Window(overtake.KeyBy(timed, func(uint64) string { return "" }), overtake.Tumbling(time.Second),
		overtake.Aggregator[uint64, int64, int64]{
			Add:    func(n *int64, _ uint64) { *n++ },
			Result: func(n *int64) int64 { return *n },
		}, overtake.WithUID("windows"))
	overtake.To(counts, memory.Func(func(w overtake.Windowed[string, int64]) error { results <- w; return nil }))
	if err := job.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(results)
	var got []int64
	for w := range results {
		got = append(got, w.Value)
	}
	if !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("got %v", got)
	}
}

type nothing = struct{}

// marker has states whose values have no size, and counts what it sees for the first time.
type marker struct {
	any  *overtake.ValueState[nothing]
	seen *overtake.MapState[uint64, nothing]
}

// Open implements Processor.
func (m *marker) Open(ctx *overtake.KeyedContext) (err error) {
	if m.any, err = overtake.NewValueState[nothing](ctx, "any"); err == nil {
		m.seen, err = overtake.NewMapState[uint64, nothing](ctx, "seen")
	}
	return err
}

// Process implements Processor.
func (m *marker) Process(_ nothing, v uint64, out overtake.Collector[nothing]) error {
	_, found, err := m.seen.Get(v)
	if err != nil || found {
		return err
	}
	out.Collect(nothing{})
	if err := m.any.Set(nothing{}); err != nil {
		return err
	}
	return m.seen.Put(v, nothing{})
}

// Records, keys and values may have no size at all.
func TestRecordsWithoutSize(t *testing.T) {
	const n = 100_000
	job := overtake.NewJob("nothing", overtake.Options{Parallelism: 2})
	halves := overtake.Map(overtake.From(job, numbers(n)), func(v uint64) uint64 { return v / 2 })
	firsts := overtake.Process(overtake.KeyBy(halves.Rebalance(), func(uint64) nothing { return nothing{} }),
		func() overtake.Processor[nothing, uint64, nothing] { return &marker{} }, overtake.WithUID("firsts"))
	counts := overtake.Aggregate(overtake.KeyBy(firsts.Rebalance(), func(v nothing) nothing { return v }), overtake.Aggregator[nothing, int64, int64]{
		Add:    func(n *int64, _ nothing) { *n++ },
		Result: func(n *int64) int64 { return *n },
	}, overtake.FinalOnly(), overtake.WithUID("counts"))
	got := make(chan int64, 2)
	overtake.To(counts, memory.Func(func(p overtake.Pair[nothing, int64]) error { got <- p.Value; return nil }))
	if err := job.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if close(got); <-got != n/2 {
		t.Error("not all have been seen once")
	}
}
