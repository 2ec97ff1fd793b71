package overtake

import (
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/operators"
)

// KeyedStream is a stream whose records are partitioned by a key: all records of
// one key reach the same subtask of the next operator, in order.
type KeyedStream[K comparable, T any] struct {
	stream Stream[T]
	key    func(v T) K
}

// KeyBy partitions a stream by a key of its records. key is called where the
// record is sent and where it is received, and must depend on the record alone.
func KeyBy[T any, K comparable](s Stream[T], key func(v T) K) KeyedStream[K, T] {
	codec, err := operators.CodecFor[K]()
	keyedStream := s.repartition(func(e *end[T]) {
		if err != nil {
			e.node.errs = append(e.node.errs, err)
		}
		e.pattern = keyed
		e.keyed = func(ctx *operators.Context, p *netstack.Partition, c operators.Codec[T]) any {
			return operators.Keyed(ctx, p, c, key, operators.HasherFor(codec))
		}
	})
	return KeyedStream[K, T]{stream: keyedStream, key: key}
}

// Pair is a key and what belongs to it.
type Pair[K comparable, V any] = operators.Pair[K, V]

// Aggregator says how to gather the records of a key in an accumulator of A, and
// what to make of it.
type Aggregator[T, A, O any] = operators.Aggregator[T, A, O]

// Aggregate keeps an accumulator for every key and passes on its result after
// each record, or with FinalOnly once per key when the input ends. It keeps state
// and so needs a UID.
func Aggregate[K comparable, T, A, O any](s KeyedStream[K, T], agg Aggregator[T, A, O], opts ...OpOption) Stream[Pair[K, O]] {
	return keyedTransform[K, T, Pair[K, O]](s, "aggregate", opts, func(next operators.Collector[Pair[K, O]], o opOptions) (operators.Transform[T], error) {
		return operators.Aggregate(s.key, agg, o.finalOnly, next)
	})
}

// Reduce combines the records of every key into one and passes it on after each
// record, or with FinalOnly once per key when the input ends. The first record of
// a key is taken as it is.
func Reduce[K comparable, T any](s KeyedStream[K, T], f func(acc, v T) T, opts ...OpOption) Stream[T] {
	return keyedTransform[K, T, T](s, "reduce", opts, func(next operators.Collector[T], o opOptions) (operators.Transform[T], error) {
		return operators.Reduce(s.key, f, o.finalOnly, next)
	})
}

// Count counts the records of every key.
func Count[K comparable, T any](s KeyedStream[K, T], opts ...OpOption) Stream[Pair[K, int64]] {
	return Aggregate(s, Aggregator[T, int64, int64]{
		Add:    func(n *int64, _ T) { *n++ },
		Result: func(n *int64) int64 { return *n },
	}, opts...)
}

// FinalOnly makes a keyed operator pass on only the last result of each key, when
// the input ends.
func FinalOnly() OpOption { return opOption(func(o *opOptions) { o.finalOnly = true }) }

// Processor and the handles of keyed state are what Process works with.
type (
	Processor[K comparable, I, O any] = operators.Processor[K, I, O]
	KeyedContext                      = operators.KeyedContext
	ValueState[V any]                 = operators.ValueState[V]
	ListState[V any]                  = operators.ListState[V]
	MapState[K comparable, V any]     = operators.MapState[K, V]
	ReducingState[V any]              = operators.ReducingState[V]
	TTL                               = operators.TTL
)

// NewValueState returns the handle of a state with one value per key, for a
// Processor's Open.
func NewValueState[V any](ctx *KeyedContext, name string, ttl ...TTL) (*ValueState[V], error) {
	return operators.NewValueState[V](ctx, name, ttl...)
}

// NewListState returns the handle of a state with a list of values per key.
func NewListState[V any](ctx *KeyedContext, name string, ttl ...TTL) (*ListState[V], error) {
	return operators.NewListState[V](ctx, name, ttl...)
}

// NewMapState returns the handle of a state with a map of values per key.
func NewMapState[K comparable, V any](ctx *KeyedContext, name string, ttl ...TTL) (*MapState[K, V], error) {
	return operators.NewMapState[K, V](ctx, name, ttl...)
}

// NewReducingState returns the handle of a state that combines a key's values.
func NewReducingState[V any](ctx *KeyedContext, name string, reduce func(acc, v V) V, ttl ...TTL) (*ReducingState[V], error) {
	return operators.NewReducingState(ctx, name, reduce, ttl...)
}

// Process runs user code with keyed state: factory makes one Processor per
// subtask. It keeps state and so needs a UID.
func Process[K comparable, I, O any](s KeyedStream[K, I], factory func() Processor[K, I, O], opts ...OpOption) Stream[O] {
	out := keyedTransform[K, I, O](s, "process", opts, func(next operators.Collector[O], _ opOptions) (operators.Transform[I], error) {
		return operators.Process(s.key, factory(), next)
	})
	out.ends[0].node.timed = true // as the Processor may be a TimerProcessor
	return out
}

// keyedTransform adds a stateful operator to a keyed stream.
func keyedTransform[K comparable, I, O any](s KeyedStream[K, I], kind string, opts []OpOption, build func(operators.Collector[O], opOptions) (operators.Transform[I], error)) Stream[O] {
	o := collect(opts)
	n := s.stream.job.add(kind, o)
	n.stateful, n.migration = true, o.migration
	n.operator = func(next any) (operators.Operator, any, error) {
		t, err := build(next.(operators.Collector[O]), o)
		return t, t, err
	}
	s.stream.connect(n)
	return output[O](s.stream.job, n, o)
}
