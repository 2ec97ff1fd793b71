package overtake

import (
	"time"

	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/perf"
)

// clockInterval is how often workers compare their clocks while there are latency markers:
// what they know of each other's gets worse by 20 µs in that time.
const clockInterval = 100 * time.Millisecond

// LatencyStats is how long latency markers have taken from a source to one subtask of an
// operator. A marker waits in queues and buffers behind the records before it, until they
// are processed, but no operator works on it: so this is how long records take, except for
// what is done with them (windows that they wait in, for example).
type LatencyStats struct {
	Source   string // name of the source, all of its subtasks
	Operator string // name of the operator; the source itself, too: see Times
	Subtask  int    // of the operator
	Sink     bool   // nothing comes behind the operator

	// Times are in nanoseconds. They begin when the source sends the marker, or, if its
	// outputs were full then, when it was due: this wait alone is what operators have that
	// share the source's subtask. Operators of one subtask share the Snapshot, which must
	// not be changed.
	Times *perf.Snapshot
	// OffsetError is by how much any of Times may be wrong, since the clocks of workers
	// differ; 0 if all was on one worker.
	OffsetError time.Duration
	// Lost is how many markers came from another worker before its clock was known. They
	// are not in Times, and went no further.
	Lost uint64
}

// Latencies returns how long latency markers (Options.LatencyMarkers) have taken to this
// worker's subtasks, in the present attempt: by operator in the order in which they were
// added to the job, by subtask, by source. There is nothing of a pair before the first marker.
func (h *Handle) Latencies() (list []LatencyStats) {
	w := h.present().worker
	subtasks := map[*node][]*subtask{}
	head := map[*node]*node{}
	for _, s := range w.subtasks {
		subtasks[s.head] = append(subtasks[s.head], s)
		for _, n := range s.head.chain() {
			head[n] = s.head
		}
	}
	known := map[*subtask][]task.Latency{}
	sources := w.plan.sources()
	for _, n := range w.plan.job.nodes {
		for _, s := range subtasks[head[n]] {
			if known[s] == nil {
				known[s] = s.task.Latencies()
			}
			for i := range known[s] {
				l := &known[s][i]
				list = append(list, LatencyStats{
					Source: sources[l.Source].name, Operator: n.name, Subtask: s.index, Sink: len(n.outputs) == 0,
					Times: &l.Times, OffsetError: l.Error, Lost: l.Lost,
				})
			}
		}
	}
	return list
}

// clockInterval is how often clocks are compared, 0 if nobody wants to know.
func (w *worker) clockInterval() time.Duration {
	if w.plan.job.opts.LatencyMarkers == 0 {
		return 0
	}
	return clockInterval
}

// sources are the job's sources.
func (p *plan) sources() (list []*node) {
	for _, h := range p.heads {
		if h.puller != nil {
			list = append(list, h)
		}
	}
	return list
}

// markers says what a subtask needs for latency markers; nil if there are none.
func (b *builder) markers(head *node, index int) *task.Markers {
	m := &task.Markers{Interval: b.plan.job.opts.LatencyMarkers}
	if m.Interval == 0 {
		return nil
	}
	for _, s := range b.plan.sources() {
		if s == head {
			m.Source = len(m.Sources)
		}
		m.Sources = append(m.Sources, s.parallelism)
	}
	for _, e := range head.inputs {
		for _, from := range e.senders(index) {
			m.Clocks = append(m.Clocks, b.peerClock(b.plan.worker(headOf(e.from), from)))
		}
	}
	return m
}

// peerClock is the clock of another worker, nil for this one.
func (b *builder) peerClock(worker int) task.PeerClock {
	if b.stack == nil {
		return nil
	}
	if c := b.stack.PeerClock(worker); c != nil {
		return c
	}
	return nil
}
