package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// Timeline is how messages spent their time, interval by interval, and how much credit
// there was. It has one owner.
type Timeline struct {
	interval time.Duration
	edges    []*edgeLine
	credit   []*creditLine
	starved  int // most channels at once
}

// edgeLine is one direction between two processes.
type edgeLine struct {
	sender, receiver uint32
	columns          map[int64]*stageColumn // by time in intervals
}

type stageColumn struct {
	messages int64
	spent    [ebpf.Stages]time.Duration
}

// mean is that of a stage, of all messages of the interval.
func (c *stageColumn) mean(s ebpf.Stage) float64 {
	return c.spent[s].Seconds() / float64(c.messages)
}

// creditLine is one worker's.
type creditLine struct {
	worker string
	levels map[int64]Level
}

// NewTimeline returns a timeline of intervals of a length.
func NewTimeline(interval time.Duration) *Timeline { return &Timeline{interval: interval} }

// Message adds a message to the interval in which it ended.
func (t *Timeline) Message(m *ebpf.Message) {
	e := t.edge(m.Sender, m.Receiver)
	at := m.Ended / int64(t.interval)
	c := e.columns[at]
	if c == nil {
		c = &stageColumn{}
		e.columns[at] = c
	}
	c.messages++
	for s := range ebpf.Stages {
		if m.Seen(s) {
			c.spent[s] += m.Spent[s]
		}
	}
}

func (t *Timeline) edge(sender, receiver uint32) *edgeLine {
	for _, e := range t.edges {
		if e.sender == sender && e.receiver == receiver {
			return e
		}
	}
	e := &edgeLine{sender: sender, receiver: receiver, columns: map[int64]*stageColumn{}}
	t.edges = append(t.edges, e)
	slices.SortFunc(t.edges, func(a, b *edgeLine) int {
		return cmp.Or(cmp.Compare(a.sender, b.sender), cmp.Compare(a.receiver, b.receiver))
	})
	return e
}

// Credit adds the level of a worker at a time of probe.Now.
func (t *Timeline) Credit(at int64, worker string, l Level) {
	t.starved = max(t.starved, l.Starved)
	for _, c := range t.credit {
		if c.worker == worker {
			c.levels[at/int64(t.interval)] = l
			return
		}
	}
	t.credit = append(t.credit, &creditLine{worker: worker, levels: map[int64]Level{at / int64(t.interval): l}})
}

// span is the first interval that has anything, and the number of them to the last.
func (t *Timeline) span() (first int64, n int) {
	var last int64
	any := false
	add := func(at int64) {
		if !any {
			first, last, any = at, at, true
		}
		first, last = min(first, at), max(last, at)
	}
	for _, e := range t.edges {
		for at := range e.columns {
			add(at)
		}
	}
	for _, c := range t.credit {
		for at := range c.levels {
			add(at)
		}
	}
	if !any {
		return 0, 0
	}
	return first, int(last - first + 1)
}

// stages are those in which any time was spent, in order.
func (t *Timeline) stages() (list []ebpf.Stage) {
	for s := range ebpf.Stages {
		if slices.ContainsFunc(t.edges, func(e *edgeLine) bool {
			for _, c := range e.columns {
				if c.spent[s] > 0 {
					return true
				}
			}
			return false
		}) {
			list = append(list, s)
		}
	}
	return list
}
