package bench_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/operators"
	"github.com/overtake-stream/overtake/internal/invariant"
)

// gate is a limit that a change must not pass. It is far enough from what is usual that
// no machine and no load passes it, and close enough that a mistake does.
type gate struct {
	name  string
	usual float64 // for orientation
	limit float64
}

// gates are the limits. None is a time: only counts, and one ratio of processor times.
var gates = []gate{
	{"writes per MB", 1.8, 20},                                  // one for every frame would be 31
	{"reads per MB", 1.8, 40},                                   // more where the receiver is fast; two for every frame would be 61
	{"data frames per MB", 30.6, 31.5},                          // one for each buffer of 32,736 bytes, and the end
	{"credit frames per MB", 1.8, 12},                           // announcements are gathered: one for several buffers
	{"few credits: frames back per MB", 7, 32},                  // at most one for each buffer
	{"local, 100-byte records: bytes moved per byte", 0, 0.001}, // beyond the encoder's write and the decoder's read
	{"local, records of a buffer: bytes moved per byte", 0, 0.05},
	{"capture of shared buffers: bytes copied per byte", 0, 0},
	{"handoff: allocations per record", 0, 1e-4},
	{"handoff: processor time to that by hand", 1.6, 6},
	{"rebalance: allocations per record", 0, 1e-3},
	{"keyBy/100k-keys: allocations per record", 0, 1e-3},
	{"map-chain/fused: allocations per record", 0, 1e-3},
}

func pass(t *testing.T, name string, value float64) {
	t.Helper()
	i := slices.IndexFunc(gates, func(g gate) bool { return g.name == name })
	if i < 0 {
		t.Fatalf("no gate %q", name)
	}
	g := gates[i]
	t.Logf("%s: %.4g (usual %.4g, limit %.4g)", name, value, g.usual, g.limit)
	if value > g.limit {
		t.Errorf("%s: %.4g, limit %.4g: a change has made it worse. Repair it, or say in the commit why it must be so and move the limit", name, value, g.limit)
	}
}

func TestGateOfTheWire(t *testing.T) {
	c, err := bench.Transfer(context.Background(), 256<<20, 4, 32)
	if err != nil {
		t.Fatal(err)
	}
	pass(t, "writes per MB", c.PerMB(c.Writes))
	pass(t, "reads per MB", c.PerMB(c.Reads))
	pass(t, "data frames per MB", c.PerMB(c.Frames))
	pass(t, "credit frames per MB", c.PerMB(c.Back))
	if c, err = bench.Transfer(context.Background(), 64<<20, 1, 2); err != nil {
		t.Fatal(err)
	}
	pass(t, "few credits: frames back per MB", c.PerMB(c.Back))
}

func TestGateOfTheHandoff(t *testing.T) {
	if invariant.Enabled || invariant.Race {
		t.Skip("checks of every buffer are no part of the cost")
	}
	n, err := bench.HandoffAllocations(context.Background(), 10)
	if err != nil {
		t.Fatal(err)
	}
	pass(t, "handoff: allocations per record", n)
	if runtime.GOOS != "linux" {
		return // processor time is measured there only
	}
	var ratios []float64
	for range 3 {
		ours, byHand, err := bench.HandoffCost(context.Background(), 20)
		if err != nil {
			t.Fatal(err)
		}
		ratios = append(ratios, ours/byHand)
	}
	slices.Sort(ratios)
	pass(t, "handoff: processor time to that by hand", ratios[0]) // the least disturbed of three
}

func TestGateOfTheHeap(t *testing.T) {
	if invariant.Enabled || invariant.Race {
		t.Skip("checks allocate")
	}
	for _, flow := range []string{"rebalance", "keyBy/100k-keys", "map-chain/fused"} {
		cfg := operators.Config{Config: bench.Config{Pairs: 1, Size: 50, Filter: flow + "/allocations"}}
		d, err := operators.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		pass(t, flow+": allocations per record", d.Cases[0].Ours.Median)
	}
}
