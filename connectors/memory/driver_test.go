package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/operators"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gather collects records.
type gather[T any] struct{ values []T }

func (g *gather[T]) Collect(v T) { g.values = append(g.values, v) }

// driver is a reader that is driven by hand.
type driver[T any] struct {
	operators.Reader[T]
	ctx  *operators.Context
	out  *operators.Output[T]
	got  gather[T]
	woke chan struct{}
}

// open opens subtask i of p, at the given positions if restored.
func open[T any](t testing.TB, src operators.Source[T], i, p int, restored bool, positions ...[]byte) *driver[T] {
	t.Helper()
	ctx := &operators.Context{Subtask: i, Parallelism: p}
	d := &driver[T]{ctx: ctx, woke: make(chan struct{}, 100)}
	d.out = operators.NewOutput(ctx, &d.got)
	var err error
	d.Reader, err = src.Open(operators.SourceContext{
		Context: ctx, Restored: restored, Splits: positions,
		Wake: func() { d.woke <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read lets the reader collect at most n records.
func (d *driver[T]) read(t testing.TB, n int) operators.Status {
	t.Helper()
	d.out.Allow(n)
	status, err := d.Read(d.out)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// stop closes the reader and returns its positions and what it collected.
func (d *driver[T]) stop(t testing.TB) ([][]byte, []T) {
	t.Helper()
	positions, err := d.Splits(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return positions, d.got.values
}
