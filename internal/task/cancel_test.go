package task_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/statecow"
)

// gone is a store of a job that was cancelled.
type gone struct{ checkpoint.Store }

func (gone) Open(context.Context, checkpoint.BlobRef) (io.ReadCloser, error) {
	return nil, context.Canceled
}

// none is a source without records.
type none struct{}

func (none) Open(operators.SourceContext) (operators.Reader[uint64], error) { return none{}, nil }
func (none) Read(*operators.Output[uint64]) (operators.Status, error)       { return operators.Ended, nil }
func (none) Splits(dst [][]byte) ([][]byte, error)                          { return dst, nil }
func (none) Close() error                                                   { return nil }

type ignore struct{}

func (ignore) Collect(operators.Pair[uint64, int64]) {}

// restoring returns a subtask whose state is in a store that cannot be read any more.
func restoring(t *testing.T) *task.Task {
	t.Helper()
	agg := operators.Aggregator[uint64, int64, int64]{Add: func(n *int64, _ uint64) { *n++ }, Result: func(n *int64) int64 { return *n }}
	op, err := operators.Aggregate(func(v uint64) uint64 { return v }, agg, false, operators.Collector[operators.Pair[uint64, int64]](ignore{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := &operators.Context{Parallelism: 1, MaxParallel: 4, Cancel: context.Background()}
	stores := task.NewStores(statecow.Options{Budget: statecow.MinBudget, SegmentSize: 64 << 10, MaxGroups: 4}, nil, nil)
	sub := task.New(task.Config{
		Name: "count", Context: ctx, Ops: []operators.Operator{op}, Parker: netstack.NewParker(),
		Source: operators.NewPuller[uint64](none{}, op),
		Checkpoints: &task.Checkpoints{
			UIDs: []string{"count"}, Source: "none", Stores: stores, Context: context.Background(),
			Tell: func(task.Notice) {}, Now: func() int64 { return 0 },
		},
	}, perf.NewClock())
	sub.Restore(task.Restored{
		From: 1, Blobs: gone{}, Context: context.Background(),
		Operators: map[string]task.RestoredOperator{"count": {Saved: true, Keyed: []checkpoint.Part{{
			Kind: checkpoint.Keyed, EndGroup: 4, Chain: []checkpoint.BlobRef{{}},
		}}}},
	}, 1)
	return sub
}

func TestARestoreThatEndsWithTheAttemptIsNoFailure(t *testing.T) {
	sub := restoring(t)
	sub.Cancel()
	if err := sub.Run(); err != task.ErrCancelled {
		t.Errorf("got %v, want %v", err, task.ErrCancelled)
	}
}

func TestARestoreThatFailsIsReportedWithItsPlace(t *testing.T) {
	err := restoring(t).Run()
	var place *operators.Error
	if !errors.As(err, &place) || place.Operator != "count" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an error of operator count", err)
	}
}
