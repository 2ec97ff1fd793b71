package view

import (
	"io"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// WriteCheck prints which tier there is, why it is not better, what would help, and what
// looking costs.
func WriteCheck(w io.Writer, s *ebpf.Support) error {
	p := newPrinter(w)
	p.line("tier %s on Linux %s: %s", s.Tier, orNA(s.Kernel), s.Tier.Describe())
	p.refusals(s.Refusals)
	if len(s.Costs) == 0 {
		p.line("costs: n/a")
		return p.flush()
	}
	p.line("\nPROBE\tPAID\tEACH\t")
	for _, c := range s.Costs {
		if c.NA != "" {
			p.line("%s\t%s\tn/a\t%s", c.Probe, c.When, c.NA)
		} else {
			p.line("%s\t%s\t%s\t", c.Probe, c.When, nanoseconds(c.Each))
		}
	}
	return p.flush()
}

func (p *printer) refusals(list []ebpf.Refusal) {
	for _, r := range list {
		p.line("refused: %s: %s", r.Part, r.Reason)
		p.line("  n/a without it: %s", r.Loses)
		if r.Remedy != "" {
			p.line("  %s", r.Remedy)
		}
	}
}

func orNA(s string) string {
	if s == "" {
		return "n/a"
	}
	return s
}
