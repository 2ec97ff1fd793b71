package sim

import "github.com/overtake-stream/overtake/operators"

// wire is the type of records between operators: with ballast, or of one size, so that they go
// in runs.
type wire[T any] struct {
	of   func(rec) T
	full func(T) rec
	bare func(*T) *bare
}

func withFill() wire[rec] {
	whole := func(v rec) rec { return v }
	return wire[rec]{whole, whole, func(v *rec) *bare { return &v.bare }}
}

func ofOneSize() wire[bare] {
	return wire[bare]{
		func(v rec) bare { return v.bare }, func(v bare) rec { return rec{bare: v} }, func(v *bare) *bare { return v },
	}
}

// key is that of a record.
func (w wire[T]) key(v T) uint32 { return w.bare(&v).Key }

// choose is the partitioner of custom edges.
func (w wire[T]) choose(v T, n int) int {
	b := w.bare(&v)
	return int(mix(uint64(b.Seq)+uint64(b.Key)<<20) % uint64(n))
}

// collect makes a function a Collector.
type collect[T any] func(v T)

// Collect implements operators.Collector.
func (f collect[T]) Collect(v T) { f(v) }

// visit passes on what visit has made of each record. It takes runs.
type visit[T any] struct {
	visit func(v T) T
	next  operators.Collector[T]
}

// Collect implements operators.Collector.
func (o *visit[T]) Collect(v T) { o.next.Collect(o.visit(v)) }

// Runs implements operators.Runner.
func (o *visit[T]) Runs(ctx *operators.Context) func(*operators.Run[T]) {
	next := operators.Map(o.visit, o.next)
	return next.(operators.Runner[T]).Runs(ctx)
}
