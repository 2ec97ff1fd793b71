package overtake

import "github.com/overtake-stream/overtake/operators"

// The words of the API that users implement or are handed. See package operators.
type (
	Context          = operators.Context
	Source[T any]    = operators.Source[T]
	Sink[T any]      = operators.Sink[T]
	Codec[T any]     = operators.Codec[T]
	Collector[T any] = operators.Collector[T]
)

// From reads a source.
func From[T any](job *Job, source Source[T], opts ...OpOption) Stream[T] {
	o := collect(opts)
	n := job.add("source", o)
	if u, ok := source.(operators.Unreplayable); ok && job.opts.Checkpoints.Enabled() {
		n.errs = append(n.errs, u.Unreplayable())
	}
	n.puller = func(next any) operators.Puller {
		return operators.NewPuller(source, next.(operators.Collector[T]))
	}
	return output[T](job, n, o)
}

// To writes a stream to a sink.
func To[T any](s Stream[T], sink Sink[T], opts ...OpOption) {
	n := s.job.add("sink", collect(opts))
	if _, n.single = sink.(operators.SingleSink); n.single {
		set(&n.parallelism, 1)
		n.fixed = true
	}
	n.operator = func(any) (operators.Operator, any, error) {
		t := operators.To(sink)
		return t, t, nil
	}
	s.connect(n)
}

// Map passes on f of every record.
func Map[I, O any](s Stream[I], f func(v I) O, opts ...OpOption) Stream[O] {
	return transform(s, "map", opts, func(next operators.Collector[O]) operators.Transform[I] {
		return operators.Map(f, next)
	})
}

// TryMap passes on f of every record. An error of f fails the job.
func TryMap[I, O any](s Stream[I], f func(ctx *Context, v I) (O, error), opts ...OpOption) Stream[O] {
	return transform(s, "map", opts, func(next operators.Collector[O]) operators.Transform[I] {
		return operators.TryMap(f, next)
	})
}

// FlatMap passes on whatever f collects for a record.
func FlatMap[I, O any](s Stream[I], f func(v I, out Collector[O]), opts ...OpOption) Stream[O] {
	return transform(s, "flatMap", opts, func(next operators.Collector[O]) operators.Transform[I] {
		return operators.FlatMap(f, next)
	})
}
