package overtake

import (
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// Stream is a stream of records of T: the output of an operator, or of several
// of the same type after Union. It is a description; nothing flows before Run.
type Stream[T any] struct {
	job  *Job
	ends []end[T]
}

// end is one operator's output, and how it is to be partitioned.
type end[T any] struct {
	node    *node
	pattern pattern
	codec   operators.Codec[T]
	choose  func(v T, n int) int                                                          // custom
	keyed   func(ctx *operators.Context, p *netstack.Partition, c operators.Codec[T]) any // keyed
}

// repartition returns the stream with another pattern.
func (s Stream[T]) repartition(change func(*end[T])) Stream[T] {
	ends := make([]end[T], len(s.ends))
	for i, e := range s.ends {
		change(&e)
		ends[i] = e
	}
	return Stream[T]{job: s.job, ends: ends}
}

// Rebalance sends the records to all subtasks of the next operator in turn.
func (s Stream[T]) Rebalance() Stream[T] {
	return s.repartition(func(e *end[T]) { e.pattern = rebalance })
}

// Rescale sends the records of each subtask, in turn, to its own share of the
// next operator's subtasks: cheaper than Rebalance, less even.
func (s Stream[T]) Rescale() Stream[T] {
	return s.repartition(func(e *end[T]) { e.pattern = rescale })
}

// Broadcast sends every record to all subtasks of the next operator.
func (s Stream[T]) Broadcast() Stream[T] {
	return s.repartition(func(e *end[T]) { e.pattern = broadcast })
}

// PartitionBy sends every record to the subtask that choose returns, from 0 to
// n-1, where n is the parallelism of the next operator.
func (s Stream[T]) PartitionBy(choose func(v T, n int) int) Stream[T] {
	return s.repartition(func(e *end[T]) { e.pattern, e.choose = custom, choose })
}

// Union merges streams of one type. Records of one stream keep their order.
func (s Stream[T]) Union(others ...Stream[T]) Stream[T] {
	u := Stream[T]{job: s.job, ends: append([]end[T]{}, s.ends...)}
	for _, o := range others {
		u.ends = append(u.ends, o.ends...)
	}
	return u
}

// Filter passes on the records that keep returns true for.
func (s Stream[T]) Filter(keep func(v T) bool, opts ...OpOption) Stream[T] {
	return transform[T, T](s, "filter", opts, func(next operators.Collector[T]) operators.Transform[T] {
		return operators.Filter(keep, next)
	})
}

// connect makes every end of the stream an input of n.
func (s Stream[T]) connect(n *node) {
	for _, x := range s.ends {
		e := &edge{from: x.node, to: n, input: len(n.inputs), pattern: x.pattern}
		if x.codec != nil { // else its error is reported with the job's
			e.layout = x.codec.Fingerprint()
		}
		e.writer = x.writer(e)
		e.reader = func(ctx *operators.Context, next any) operators.Input {
			return operators.NewInput(ctx, x.codec, next.(operators.Collector[T]))
		}
		e.choose = func(r *record.Record, n int) (int, error) {
			v, err := x.codec.Decode(r.Payload)
			if err != nil {
				return 0, err
			}
			return x.choose(v, n), nil
		}
		x.node.outputs = append(x.node.outputs, e)
		n.inputs = append(n.inputs, e)
	}
}

// writer returns how a chain ends with edge e, whose pattern is settled by then.
func (x end[T]) writer(e *edge) func(*operators.Context, *netstack.Partition) any {
	return func(ctx *operators.Context, p *netstack.Partition) any {
		switch e.pattern {
		case forward, broadcast:
			return operators.Forward(ctx, p, x.codec)
		case custom:
			return operators.Custom(ctx, p, x.codec, x.choose)
		case keyed:
			return x.keyed(ctx, p, x.codec)
		default:
			return operators.Rebalance(ctx, p, x.codec)
		}
	}
}

// output is the stream that node n produces.
func output[T any](job *Job, n *node, opts opOptions) Stream[T] {
	n.tee = func(ctx *operators.Context, next []any) any {
		typed := make([]operators.Collector[T], len(next))
		for i, c := range next {
			typed[i] = c.(operators.Collector[T])
		}
		return operators.Tee(ctx, typed)
	}
	codec, err := codecOf[T](opts)
	if err != nil {
		n.errs = append(n.errs, err)
	}
	return Stream[T]{job: job, ends: []end[T]{{node: n, codec: codec}}}
}

// codecOf is the codec given by the options, or the type's own.
func codecOf[T any](opts opOptions) (operators.Codec[T], error) {
	if opts.codec == nil {
		return operators.CodecFor[T]()
	}
	codec, ok := opts.codec.(operators.Codec[T])
	if !ok {
		var zero T
		return nil, errCodecType(opts.codec, zero)
	}
	return codec, nil
}

// transform adds an operator with one input and one output.
func transform[I, O any](s Stream[I], kind string, opts []OpOption, build func(operators.Collector[O]) operators.Transform[I]) Stream[O] {
	o := collect(opts)
	n := s.job.add(kind, o)
	n.operator = func(next any) (operators.Operator, any, error) {
		t := build(next.(operators.Collector[O]))
		return t, t, nil
	}
	s.connect(n)
	return output[O](s.job, n, o)
}
