package operators_test

import (
	"errors"
	"testing"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
)

type dropped struct{}

func (dropped) Collect(operators.Pair[uint64, int64]) {}

// TestStateIsMadeForTheHashesOfItsSubtask, also in a job without checkpoints: a map for
// all hashes that sees some only would be slow.
func TestStateIsMadeForTheHashesOfItsSubtask(t *testing.T) {
	for _, c := range []struct {
		hash    uint32
		foreign bool
	}{{1, true}, {1 << 31, false}, {1<<31 - 1, true}, {1<<32 - 1, false}} {
		ctx := &operators.Context{Subtask: 1, Parallelism: 2, MaxParallel: 128}
		op, err := operators.Aggregate(func(v uint64) uint64 { return v }, operators.Aggregator[uint64, int64, int64]{
			Add:    func(n *int64, _ uint64) { *n++ },
			Result: func(n *int64) int64 { return *n },
		}, false, operators.Collector[operators.Pair[uint64, int64]](dropped{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := op.Open(ctx); err != nil {
			t.Fatal(err)
		}
		ctx.Hash = c.hash
		op.Collect(7)
		var foreign *statecow.GroupError
		if errors.As(ctx.Err(), &foreign) != c.foreign {
			t.Errorf("hash %#x in subtask 1 of 2: %v", c.hash, ctx.Err())
		}
		if err := op.Close(true); err != nil {
			t.Error(err)
		}
	}
}
