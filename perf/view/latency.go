package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// WriteLatency prints a table of stages for each edge, what it says, what became of the
// messages, and what looking has cost.
func WriteLatency(w io.Writer, r *ebpf.LatencyReport) error {
	p := newPrinter(w)
	p.line("tier %s, %s: %s", r.Tier, short(r.Duration), r.Tier.Describe())
	p.refusals(r.Refusals)
	for i := range r.Edges {
		p.edge(&r.Edges[i])
	}
	p.line("")
	p.line("%s", r.Blame())
	if len(r.Edges) > 1 {
		p.line("(that is the edge with the most time in its messages)")
	}
	for _, pid := range r.Gone {
		p.line("process %d has ended meanwhile: its messages are of the time before%s", pid, unseen(r))
	}
	for _, pid := range r.Joined {
		p.line("process %d has come in its place: its messages are of the time since", pid)
	}
	p.line("")
	p.messages(r)
	p.queues(r.RunQueues, r.Gone...)
	p.cost(r)
	if err := p.flush(); err != nil {
		return err
	}
	for i := range r.Histograms {
		if _, err := fmt.Fprintf(w, "\n%s, of all data, in the kernel\n", r.Histograms[i].Name); err != nil {
			return err
		}
		if err := WriteHistogram(w, &r.Histograms[i]); err != nil {
			return err
		}
	}
	return nil
}

// unseen says so if something took a process's place and was not looked at.
func unseen(r *ebpf.LatencyReport) string {
	if len(r.Joined) >= len(r.Gone) {
		return ""
	}
	return ", and what took its place was not looked at"
}

func (p *printer) edge(e *ebpf.Edge) {
	p.line("")
	p.line("process %d (%s) -> process %d (%s): %d messages of %d channels", e.Sender, e.From, e.Receiver, e.To, e.Total.Count, e.Channels)
	p.line("  STAGE\tSEEN\tP50\tP99\tP99.9\tMEAN\tSHARE\t")
	rows := map[ebpf.Stage]*ebpf.StageRow{}
	for i := range e.Stages {
		rows[e.Stages[i].Stage] = &e.Stages[i]
	}
	missing := map[ebpf.Stage]bool{}
	for _, s := range e.Missing {
		missing[s] = true
	}
	for s := range ebpf.Stages {
		switch row := rows[s]; {
		case row != nil && row.Count > 0:
			p.line("  %s\t%d\t%s\t%s\t%s\t%s\t%.1f%%\t%s", s, row.Count, short(row.P50), short(row.P99), short(row.P999), short(row.Mean),
				100*row.Share, strings.Repeat("#", int(row.Share*30+0.5)))
		case row != nil, missing[s]:
			p.line("  %s\t0\tn/a\tn/a\tn/a\tn/a\tn/a\t", s)
		}
	}
	t := e.Total
	if t.Count == 0 {
		p.line("  total\t0\tn/a\tn/a\tn/a\tn/a\tn/a\t")
		return
	}
	p.line("  total\t%d\t%s\t%s\t%s\t%s\t100.0%%\t", t.Count, short(t.P50), short(t.P99), short(t.P999), short(t.Mean))
}

// messages says what became of them. Without tiers A and B none are looked at.
func (p *printer) messages(r *ebpf.LatencyReport) {
	if r.Tier == ebpf.TierC {
		p.line("messages: n/a")
		return
	}
	p.line("messages: %d put together (%d with the kernel's part), %d unmatched, %d in flight at the end, %d already at the beginning",
		r.Matched, r.Kernel, r.Unmatched, r.InFlight, r.Early)
	p.line("lost: %d events dropped, %d messages unreadable, %d on connections not followed, %d edges out of order, %d kernel events forgotten",
		r.Drops, r.Faults, r.Foreign, r.Disordered, r.Forgotten)
}

func (p *printer) queues(list []ebpf.ProcessQueue, gone ...int) {
	for _, q := range list {
		if slices.Contains(gone, q.PID) {
			p.line("process %d: run queue n/a: the process has ended", q.PID)
			continue
		}
		if q.NA != "" {
			p.line("process %d: run queue n/a: %s", q.PID, q.NA)
			continue
		}
		ended := ""
		if q.Ended > 0 {
			ended = fmt.Sprintf(", without %d threads that have ended", q.Ended)
		}
		p.line("process %d: ran %s, waited %s for a processor, %d time slices%s", q.PID, short(q.Ran), short(q.Waited), q.Slices, ended)
	}
}

func (p *printer) cost(r *ebpf.LatencyReport) {
	c := r.Cost
	if r.Tier == ebpf.TierC {
		p.line("looking has cost: %s of this process; nothing was attached to the others", short(c.CPU))
		return
	}
	trap, lost := "n/a", "n/a"
	if c.Trap != nil {
		trap = short(*c.Trap)
	}
	if c.Lost != nil {
		lost = short(*c.Lost)
		if r.Duration > 0 {
			lost += fmt.Sprintf(" (%.2f%% of one processor)", 100*float64(*c.Lost)/float64(r.Duration))
		}
	}
	p.line("looking has cost: %s of this process, %s to attach; %d events, %d of them traps of %s each, which cost the job %s",
		short(c.CPU), short(c.Attach), c.Events, c.Traps, trap, lost)
}
