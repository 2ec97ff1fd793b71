package overtake

import (
	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

// node is an operator of the logical graph. Its closures carry the types that
// the graph itself has forgotten: an "any" named next is a Collector of the
// node's output type, the result of collector one of its input type.
type node struct {
	id          int
	name, uid   string
	parallelism int  // 0: the job's
	fixed       bool // parallelism does not follow the job's
	stateful    bool
	single      bool
	errs        []error
	migration   func() (operators.Migration, error) // of its state; nil: none
	windows     *watermark.Ends                     // when its windows end; nil: it has none
	timed       bool                                // it has timers of event time
	times       bool                                // it makes watermarks of its own

	inputs  []*edge
	outputs []*edge

	// source only
	puller func(next any) operators.Puller
	// all others
	operator func(next any) (op operators.Operator, collector any, err error)
	// tee joins several collectors of the node's output type.
	tee func(ctx *operators.Context, next []any) any
}

// pattern says which subtasks of two operators a stream connects.
type pattern uint8

const (
	forward   pattern = iota // subtask i to subtask i; rebalance if the parallelisms differ
	rebalance                // every subtask to all, in turn
	rescale                  // every subtask to its share of the receivers
	broadcast                // every record to all
	keyed                    // by key group
	custom                   // by the user's partitioner
)

var patternNames = [...]string{"forward", "rebalance", "rescale", "broadcast", "keyBy", "custom"}

func (p pattern) String() string { return patternNames[p] }

// edge is a stream between two operators.
type edge struct {
	from, to *node
	input    int // which input of to
	pattern  pattern
	layout   uint64 // fingerprint of the codec
	apart    bool   // not fused; see settle

	// writer returns the Collector that ends a chain with this edge, reader the
	// input that begins one.
	writer func(ctx *operators.Context, p *netstack.Partition) any
	reader func(ctx *operators.Context, next any) operators.Input
	// choose asks the user's partitioner for the receiver of an encoded record.
	choose func(r *record.Record, n int) (int, error)
}

// fused reports whether the two ends run in one subtask and call each other
// directly.
func (e *edge) fused() bool {
	return e.pattern == forward && !e.apart && len(e.to.inputs) == 1 && e.from.parallelism == e.to.parallelism
}

// settle replaces what depends on the final parallelism. With checkpoints, ends are apart
// if they have the same parallelism only by chance: at another one records may be in
// flight between them, and need a way to go on here. So are ends with event times of their own,
// since a subtask has one watermark. Edges closer to the sources are settled already. Each attempt
// finds everything settled by the first, and writes nothing: snapshots of the job may be reading.
func (e *edge) settle(checkpoints bool) {
	if apart := checkpoints && e.from.fixed != e.to.fixed || e.to.times && e.from.waits(); apart != e.apart {
		e.apart = apart
	}
	if e.pattern == forward && e.from.parallelism != e.to.parallelism {
		e.pattern = rebalance
	}
}

// waits reports whether an operator has timers of event time that shares the node's subtask and comes
// no later.
func (n *node) waits() bool {
	return n.timed || len(n.inputs) > 0 && n.inputs[0].fused() && n.inputs[0].from.waits()
}

// targets returns the receiving subtasks of a sending one, in order.
func (e *edge) targets(subtask int) (first, end int) {
	from, to := e.from.parallelism, e.to.parallelism
	switch e.pattern {
	case forward:
		return subtask, subtask + 1
	case rescale:
		return rescaleTargets(subtask, from, to)
	default:
		return 0, to
	}
}

// rescaleTargets splits the receivers among the senders, or lets neighbouring
// senders share one, so that every receiver has a sender.
func rescaleTargets(subtask, from, to int) (first, end int) {
	if from <= to {
		return subtask * to / from, (subtask + 1) * to / from
	}
	first = subtask * to / from
	return first, first + 1
}
