package bench

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the document as a table for people.
func (d *Document) WriteText(w io.Writer) error {
	e := d.Environment
	_, err := fmt.Fprintf(w, "%s on %s, %d cores, Linux %s, %s\n\n%-46s %14s  %s\n", d.Suite, e.CPU, e.Cores, e.Kernel, e.Go, "case", "ours", "against")
	for _, r := range d.Cases {
		if err == nil {
			_, err = fmt.Fprintln(w, r.line())
		}
	}
	return err
}

// line is the result on one line, or a few.
func (r Result) line() string {
	var b strings.Builder
	if len(r.Ours.Runs) == 0 && len(r.Skipped) > 0 {
		return fmt.Sprintf("%-46s %14s  %s", r.Name, "n/a", r.Skipped[0].Why)
	}
	fmt.Fprintf(&b, "%-46s %14s", r.Name, Quantity(r.Ours.Median, r.Unit))
	for i, base := range r.Baselines {
		if i > 0 {
			fmt.Fprintf(&b, "\n%61s", "")
		}
		fmt.Fprintf(&b, "  x%.3f (%.3f to %.3f) of %s, %s", base.Ratio.Median, base.Ratio.Min, base.Ratio.Max, base.Name, Quantity(base.Median, r.Unit))
		if g := r.Goal; g != nil && g.Baseline == base.Name {
			word, sign := "MISSED", ">="
			if g.Met {
				word = "met"
			}
			if r.Better == Lower {
				sign = "<="
			}
			fmt.Fprintf(&b, "; goal %s %.3f %s", sign, g.Ratio, word)
		}
	}
	r.Ours.Percentiles.write(&b, "ours")
	for _, base := range r.Baselines {
		base.Percentiles.write(&b, base.Name)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "  (%s skipped: %s)", s.Name, s.Why)
	}
	return b.String()
}

func (p *Percentiles) write(b *strings.Builder, name string) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "\n%61s  p50 %s, p90 %s, p99 %s, p99.9 %s, max %s: %s", "",
		Quantity(p.P50, "s"), Quantity(p.P90, "s"), Quantity(p.P99, "s"), Quantity(p.P999, "s"), Quantity(p.Max, "s"), name)
}

// Quantity writes a figure with a prefix to its unit.
func Quantity(v float64, unit string) string {
	for _, p := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}} {
		if v >= p.size && unit != "" {
			return fmt.Sprintf("%.3g %s%s", v/p.size, p.name, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
