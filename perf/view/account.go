package view

import (
	"fmt"
	"io"

	"github.com/overtake-stream/overtake/perf"
)

// EdgeAccount is what the job itself says of a stream between two of its operators: of
// all buffers, also those that stay in their process.
type EdgeAccount struct {
	From        string            `json:"from"`
	To          string            `json:"to"`
	Buffers     uint64            `json:"buffers"`
	FlushDelay  perf.Distribution `json:"flush_delay"`
	OutputQueue perf.Distribution `json:"output_queue"`
	CreditWait  perf.Distribution `json:"credit_wait"`
	QueueTime   perf.Distribution `json:"queue_time"`
}

// Accounts sums up what has happened between two snapshots of the same workers. Of a
// build that measures nothing there are none.
func Accounts(before, after []perf.JobSnapshot) []EdgeAccount {
	var list []EdgeAccount
	find := func(from, to string) *EdgeAccount {
		for i := range list {
			if list[i].From == from && list[i].To == to {
				return &list[i]
			}
		}
		list = append(list, EdgeAccount{From: from, To: to})
		return &list[len(list)-1]
	}
	for i := range after {
		s := after[i]
		if i < len(before) {
			s = after[i].Since(&before[i])
		}
		if !s.Measured {
			continue
		}
		for _, e := range s.Edges {
			a := find(e.From, e.To)
			a.Buffers += e.Sent.Buffers
			a.FlushDelay = a.FlushDelay.Merge(e.FlushDelay)
			a.OutputQueue = a.OutputQueue.Merge(e.OutputQueue)
			a.CreditWait = a.CreditWait.Merge(e.CreditWait)
			a.QueueTime = a.QueueTime.Merge(e.QueueTime)
		}
	}
	return list
}

// WriteAccounts prints a table.
func WriteAccounts(w io.Writer, list []EdgeAccount) error {
	p := newPrinter(w)
	p.line("the job's own account, of all buffers:")
	p.line("  EDGE\tBUFFERS\tWAIT\tCOUNT\tP50\tP99\tP99.9\tMEAN\t")
	for _, e := range list {
		name, count := e.From+" -> "+e.To, fmt.Sprint(e.Buffers)
		for _, row := range []struct {
			name string
			d    perf.Distribution
		}{{"flush delay", e.FlushDelay}, {"output queue", e.OutputQueue}, {"credit wait", e.CreditWait}, {"receive queue", e.QueueTime}} {
			if row.d.Count == 0 {
				p.line("  %s\t%s\t%s\t0\tn/a\tn/a\tn/a\tn/a\t", name, count, row.name)
			} else {
				p.line("  %s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t", name, count, row.name, row.d.Count,
					seconds(row.d.P50), seconds(row.d.P99), seconds(row.d.P999), seconds(row.d.Mean))
			}
			name, count = "", ""
		}
	}
	return p.flush()
}

// Level is how much credit a worker's outputs have.
type Level struct {
	Credits int `json:"credits"` // buffers that may be sent at once
	Starved int `json:"starved"` // channels that have data and no credit
}

// LevelOf adds up the senders of a worker, if it has any.
func LevelOf(s *perf.JobSnapshot) (l Level, ok bool) {
	for _, e := range s.Edges {
		for _, x := range e.Senders {
			ok = true
			l.Credits += x.Credits
			l.Starved += x.StarvedChannels
		}
	}
	return l, ok
}
