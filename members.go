package overtake

import (
	"fmt"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/task"
)

// member numbers the subtasks of the whole job, alike on every worker.
func (p *plan) member(head *node, index int) protocol.Member {
	n := 0
	for _, h := range p.heads {
		if h == head {
			return protocol.Member(n + index)
		}
		n += h.parallelism
	}
	panic(fmt.Sprintf("overtake: %q begins no chain", head.name))
}

// memberAt is the inverse.
func (p *plan) memberAt(m protocol.Member) (head *node, index int) {
	n := int(m)
	for _, h := range p.heads {
		if n < h.parallelism {
			return h, n
		}
		n -= h.parallelism
	}
	panic(fmt.Sprintf("overtake: there is no member %d", m))
}

// members are the number of subtasks, and which of them are sources.
func (p *plan) members() (n int, sources []protocol.Member) {
	for _, h := range p.heads {
		for i := range h.parallelism {
			if h.puller != nil {
				sources = append(sources, protocol.Member(n+i))
			}
		}
		n += h.parallelism
	}
	return n, sources
}

// key identifies an operator in checkpoints: its UID, or its place in the graph.
func (n *node) key() string {
	if n.uid != "" {
		return n.uid
	}
	return fmt.Sprintf("#%d %s", n.id, n.name)
}

// key identifies an edge in checkpoints.
func (e *edge) key() string { return fmt.Sprintf("%s > %s #%d", e.from.key(), e.to.key(), e.input) }

// channels names the channels of a subtask's gate.
func (p *plan) channels(head *node, index int) (list []task.Channel) {
	for _, e := range head.inputs {
		for _, from := range e.senders(index) {
			list = append(list, task.Channel{Edge: e.key(), From: from, To: index})
		}
	}
	return list
}
