package sim

import (
	"fmt"
	"math/rand/v2"
)

type kind uint8

const (
	source kind = iota
	mapper
	counter
	sink
)

type pattern uint8

const (
	forward pattern = iota // rebalance if the parallelisms differ
	rebalance
	rescale
	broadcast
	custom
	keyed
)

// node is an operator, which is a chain of its own.
type node struct {
	id      int
	kind    kind
	uid     string
	lengths []int // source: records of each split
	fixed   bool  // its parallelism never changes: it receives a broadcast
	inputs  []*edge
	outputs []*edge
}

// edge connects two operators.
type edge struct {
	id       int
	from, to *node
	input    int // of to
	pattern  pattern
}

func (e *edge) key() string { return fmt.Sprintf("%s > %s #%d", e.from.uid, e.to.uid, e.input) }

// graph is a job, in topological order.
type graph struct {
	nodes []*node
	edges []*edge
}

func (g *graph) add(k kind) *node {
	n := &node{id: len(g.nodes), kind: k, uid: fmt.Sprintf("n%d", len(g.nodes))}
	g.nodes = append(g.nodes, n)
	return n
}

func (g *graph) connect(from, to *node, p pattern) {
	e := &edge{id: len(g.edges), from: from, to: to, input: len(to.inputs), pattern: p}
	if p == broadcast {
		to.fixed = true
	}
	g.edges = append(g.edges, e)
	from.outputs = append(from.outputs, e)
	to.inputs = append(to.inputs, e)
}

// newGraph draws a graph.
func newGraph(r *rand.Rand, scale int) *graph {
	g := &graph{}
	pick := func() pattern { return pattern(r.IntN(int(keyed) + 1)) }
	newSource := func() *node {
		n := g.add(source)
		for range 1 + r.IntN(5) {
			n.lengths = append(n.lengths, r.IntN(1+2*scale))
		}
		return n
	}
	a := newSource()
	last := a
	shape := r.IntN(6)
	switch {
	case shape == 0: // source and counter only
	case shape <= 2:
		b := newSource()
		m := g.add(mapper)
		g.connect(a, m, pick())
		g.connect(b, m, pick())
		last = m
	default:
		for range 1 + r.IntN(2) {
			m := g.add(mapper)
			g.connect(last, m, pick())
			last = m
		}
	}
	c := g.add(counter)
	g.connect(last, c, keyed)
	if shape >= 4 && last != a { // two ways to the counter
		g.connect(a, c, keyed)
	}
	s := g.add(sink)
	g.connect(c, s, pick())
	return g
}

// parallelism draws how many subtasks each operator has. before is what it was.
func (g *graph) parallelism(r *rand.Rand, limit int, before []int) []int {
	par := make([]int, len(g.nodes))
	for i, n := range g.nodes {
		if par[i] = 1 + r.IntN(limit); n.fixed && before != nil {
			par[i] = before[i]
		}
		for _, e := range n.inputs { // else forward would never be one
			if e.pattern == forward && !(n.fixed && before != nil) && r.IntN(3) > 0 {
				par[i] = par[e.from.id]
			}
		}
	}
	return par
}

// settled is the pattern that an edge has at a parallelism.
func (e *edge) settled(par []int) pattern {
	if e.pattern == forward && par[e.from.id] != par[e.to.id] {
		return rebalance
	}
	return e.pattern
}

// targets are the receivers of a subtask.
func (e *edge) targets(par []int, subtask int) (first, end int) {
	from, to := par[e.from.id], par[e.to.id]
	switch e.settled(par) {
	case forward:
		return subtask, subtask + 1
	case rescale:
		if from <= to {
			return subtask * to / from, (subtask + 1) * to / from
		}
		first = subtask * to / from
		return first, first + 1
	}
	return 0, to
}

// senders are the subtasks that send to a receiver, in order.
func (e *edge) senders(par []int, to int) (list []int) {
	for from := range par[e.from.id] {
		if first, end := e.targets(par, from); first <= to && to < end {
			list = append(list, from)
		}
	}
	return list
}
