package overtake

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// plan is the physical graph: which operators share a subtask, and where each
// subtask runs. It is computed alike on every worker.
type plan struct {
	job     *Job
	workers int
	heads   []*node          // first operators of the chains
	bases   map[*edge]uint32 // first channel number of each edge between chains
}

func newPlan(j *Job, workers int) *plan {
	p := &plan{job: j, workers: workers, bases: map[*edge]uint32{}}
	next := uint32(1) // channel 0 is control
	for _, n := range j.nodes {
		for _, e := range n.outputs {
			e.settle(j.opts.Checkpoints.Enabled())
			if !e.fused() {
				p.bases[e] = next
				next += uint32(e.from.parallelism * e.to.parallelism)
			}
		}
	}
	for _, n := range j.nodes {
		if len(n.inputs) == 0 || !n.inputs[0].fused() {
			p.heads = append(p.heads, n)
		}
	}
	return p
}

// worker is the place of a subtask: consecutive subtasks share a worker, and an
// operator with one subtask is on the first.
func (p *plan) worker(n *node, subtask int) int {
	return subtask * p.workers / n.parallelism
}

// channel is the number of the channel from one subtask to another, unique in
// the job.
func (p *plan) channel(e *edge, from, to int) uint32 {
	return p.bases[e] + uint32(from*e.to.parallelism+to)
}

// senders are the subtasks that send to a receiving one, in order.
func (e *edge) senders(to int) (list []int) {
	for from := range e.from.parallelism {
		if first, end := e.targets(from); first <= to && to < end {
			list = append(list, from)
		}
	}
	return list
}

// fingerprints identify the graph, and the layouts of the records in it, to the
// other workers.
func (p *plan) fingerprints() (graph, layout uint64) {
	g, l := fnv.New64a(), fnv.New64a()
	fmt.Fprintf(g, "%q workers=%d groups=%d\n", p.job.name, p.workers, p.job.opts.MaxParallelism)
	for _, n := range p.job.nodes {
		fmt.Fprintf(g, "%d %q %q x%d\n", n.id, n.name, n.uid, n.parallelism)
		for _, e := range n.inputs {
			fmt.Fprintf(g, " <- %d %v\n", e.from.id, e.pattern)
			fmt.Fprintf(l, "%d.%d %x\n", n.id, e.input, e.layout)
		}
	}
	return g.Sum64(), l.Sum64()
}

// chainName is the names of the operators that are fused to head.
func chainName(head *node) string {
	var names []string
	for _, n := range head.chain() {
		names = append(names, n.name)
	}
	return strings.Join(names, " -> ")
}

// chain is the operators that run in a subtask that begins with n, n included.
func (n *node) chain() []*node {
	list := []*node{n}
	for _, e := range n.outputs {
		if e.fused() {
			list = append(list, e.to.chain()...)
		}
	}
	return list
}

// between names the edges that have channels from one of two workers to the other.
func (p *plan) between(a, b int) (edges []string) {
	for _, n := range p.job.nodes {
		for _, e := range n.outputs {
			if !e.fused() && p.crosses(e, a, b) {
				edges = append(edges, fmt.Sprintf("%q to %q", e.from.name, e.to.name))
			}
		}
	}
	return edges
}

// crosses reports whether an edge has a channel between two workers.
func (p *plan) crosses(e *edge, a, b int) bool {
	for from := range e.from.parallelism {
		first, end := e.targets(from)
		for to := first; to < end; to++ {
			x, y := p.worker(e.from, from), p.worker(e.to, to)
			if (x == a && y == b) || (x == b && y == a) {
				return true
			}
		}
	}
	return false
}
