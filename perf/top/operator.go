package top

import (
	"fmt"

	"github.com/overtake-stream/overtake/perf"
)

// Operator is a chain of operators over all workers, or one of its subtasks.
type Operator struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Source      bool   `json:"source"`
	Sink        bool   `json:"sink"` // nothing comes behind it
	Parallelism int    `json:"parallelism"`
	Running     int    `json:"running"` // subtasks

	RecordsIn  float64 `json:"records_in_per_second"` // of a source: what it has made
	RecordsOut float64 `json:"records_out_per_second"`

	Busy   float64 `json:"busy"` // shares of the subtasks' time
	Idle   float64 `json:"idle"`
	Soft   float64 `json:"backpressured_soft"` // waiting for output between two records, where control is obeyed
	Hard   float64 `json:"backpressured_hard"` // waiting for output in the middle of a record
	Unused float64 `json:"-"`                  // 1 if there was no time to share

	PerRecord float64 `json:"busy_seconds_per_record"`

	QueuedIn  int      `json:"queued_buffers"`
	QueuedOut int      `json:"queued_buffers_out"`
	QueueP50  float64  `json:"queue_p50_seconds"`
	QueueP99  float64  `json:"queue_p99_seconds"`
	Queued    uint64   `json:"queue_count"` // buffers that left the queues; 0: the times above are not known
	Lag       *float64 `json:"watermark_lag_seconds,omitempty"`

	Subtasks []Operator `json:"subtasks,omitempty"`
}

func operatorOf(s *perf.JobSnapshot, o *perf.OperatorSnapshot, seconds float64) Operator {
	sum := o.Sum()
	row := subtaskOf(&sum, seconds)
	row.ID, row.Name, row.Source, row.Parallelism, row.Sink = o.ID, o.Name, o.Source, o.Parallelism, true
	row.Running = 0
	queue := perf.Distribution{}
	queues := map[int]perf.Distribution{}
	for i := range s.Edges {
		e := &s.Edges[i]
		if e.From == o.ID {
			row.Sink = false
		}
		if e.To == o.ID {
			queue = queue.Merge(e.QueueTime)
			for k := range e.Receivers {
				r := &e.Receivers[k]
				queues[r.Subtask] = queues[r.Subtask].Merge(r.QueueTime)
			}
		}
	}
	row.setQueue(queue)
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		sub := subtaskOf(t, seconds)
		sub.ID, sub.Name = o.ID, fmt.Sprintf("[%d] %s", t.Index, o.Name)
		sub.Source, sub.Sink, sub.Parallelism = o.Source, row.Sink, o.Parallelism
		sub.setQueue(queues[t.Index])
		row.Running += sub.Running
		row.Subtasks = append(row.Subtasks, sub)
	}
	return row
}

func (o *Operator) setQueue(d perf.Distribution) {
	o.QueueP50, o.QueueP99, o.Queued = d.P50, d.P99, d.Count
}

func subtaskOf(t *perf.SubtaskSnapshot, seconds float64) Operator {
	o := Operator{
		RecordsIn: per(t.RecordsIn, seconds), RecordsOut: per(t.RecordsOut, seconds), PerRecord: t.PerRecord(),
		QueuedIn: t.QueuedIn, QueuedOut: t.QueuedOut, Lag: t.Lag, Unused: 1,
	}
	if t.Running {
		o.Running = 1
	}
	if t.Wall > 0 {
		o.Busy, o.Idle = t.Busy/t.Wall, t.Idle/t.Wall
		o.Soft, o.Hard, o.Unused = max(0, t.Backpressured-t.Blocked)/t.Wall, t.Blocked/t.Wall, 0
	}
	return o
}
