package bench

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes what moved, or may have if runs are too few to tell, and with all
// also the rest.
func (c *Comparison) WriteText(w io.Writer, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Suite)
	for _, note := range c.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	for _, r := range c.Rows {
		if all || r.Verdict != Same && c.Test.large(r.Factor.Estimate) {
			fmt.Fprintf(&b, "  %s\n", r)
		}
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"only before", c.OnlyBefore}, {"only after", c.OnlyAfter}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "  %s: %s\n", list.what, strings.Join(list.names, ", "))
		}
	}
	fmt.Fprintf(&b, "  %d cases: %d worse, %d better, %d the same within noise, %d with too few runs to tell",
		len(c.Rows), c.Count(Worse), c.Count(Better), c.Count(Same), c.Count(TooFew))
	if tested := len(c.Rows) - c.Count(TooFew); tested > 0 {
		fmt.Fprintf(&b, " (by chance alone, up to %.1f would seem to move)", c.Test.Alpha*float64(tested))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the row on one line.
func (r Row) String() string {
	s := fmt.Sprintf("%-44s %-12s %s -> %s  x%.3f", r.Case, r.Verdict, Quantity(r.From, r.Unit), Quantity(r.To, r.Unit), r.Factor.Estimate)
	if r.Factor.Confidence > 0 {
		s += fmt.Sprintf(" (%.3f to %.3f, %.0f%%)", r.Factor.Low, r.Factor.High, 100*r.Factor.Confidence)
	}
	s += fmt.Sprintf("  p=%.3f", r.P)
	if r.Verdict == TooFew {
		s += fmt.Sprintf(": %d and %d runs reach no less than p=%.3f", r.Runs[0], r.Runs[1], leastP(r.Runs[0], r.Runs[1]))
	}
	if r.Against != "" {
		s += ", ratios to " + r.Against
	}
	return s
}
