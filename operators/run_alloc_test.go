package operators_test

import (
	"testing"

	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// TestRunsAllocateNothing sends batches through a chain and a keyed edge to an aggregate.
func TestRunsAllocateNothing(t *testing.T) {
	p := newPipe(t, 3)
	codec, _ := operators.CodecFor[flat]()
	keys, _ := operators.CodecFor[uint64]()
	key := func(v flat) uint64 { return v.A % 100 }
	edge := operators.Keyed(p.ctx, p.out, codec, key, operators.HasherFor(keys))
	times := operators.Times(func(v flat) int64 { return int64(v.A) }, watermark.Options{}, edge)
	kept := operators.Filter(func(v flat) bool { return v.A%3 != 0 }, operators.Collector[flat](times))
	chain := operators.Map(func(v flat) flat { v.D++; return v }, operators.Collector[flat](kept))
	out := operators.NewOutput(p.ctx, operators.Collector[flat](chain))

	ctx := &operators.Context{Parallelism: 1, MaxParallel: 128}
	var results totals
	counts, err := operators.Aggregate(key, operators.Aggregator[flat, uint64, uint64]{
		Add: func(n *uint64, v flat) { *n += uint64(v.D) }, Result: func(n *uint64) uint64 { return *n },
	}, false, operators.Collector[operators.Pair[uint64, uint64]](&results))
	if err != nil {
		t.Fatal(err)
	}
	in := operators.NewInput(ctx, codec, operators.Collector[flat](counts))
	for _, op := range []operators.Operator{times, kept, chain} {
		if err := op.Open(p.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := counts.Open(ctx); err != nil {
		t.Fatal(err)
	}
	longest, number := 0, uint64(0)
	var it record.Iterator
	step := func() {
		out.Allow(500)
		for out.Ready() {
			batch, _ := out.Batch()
			longest = max(longest, len(batch))
			for i := range batch {
				batch[i] = flat{A: number}
				number++
			}
			if len(batch) > 0 {
				out.CollectBatch(len(batch), false)
			} else {
				out.Collect(flat{A: number})
				number++
			}
		}
		p.out.Flush(0)
		p.each(func(_ int, payload []byte) {
			for it = record.Over(payload); it.Rest() > 0; {
				if _, err := in.Records(&it, 64); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for range 20 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n != 0 && !invariant.Enabled {
		t.Errorf("500 records allocate %v times", n)
	}
	if longest < 64 || results.n != number-(number+2)/3 {
		t.Errorf("the longest batch had %d records, and %d of %d have come", longest, results.n, number)
	}
	if err := counts.Close(true); err != nil {
		t.Error(err)
	}
}

// totals counts results.
type totals struct{ n uint64 }

// Collect implements operators.Collector.
func (r *totals) Collect(operators.Pair[uint64, uint64]) { r.n++ }
