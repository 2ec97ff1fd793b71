package view

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// printer writes lines whose cells, which end in tabs, are aligned.
type printer struct {
	w   *tabwriter.Writer
	err error
}

func newPrinter(w io.Writer) *printer {
	return &printer{w: tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
}

func (p *printer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *printer) flush() error {
	if err := p.w.Flush(); err != nil {
		return err
	}
	return p.err
}

// short is a time with three digits.
func short(d time.Duration) string {
	v, unit := float64(d), "ns"
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d.Abs() >= u.size {
			v, unit = float64(d)/float64(u.size), u.name
			break
		}
	}
	switch {
	case unit == "ns" || math.Abs(v) >= 99.95:
		return fmt.Sprintf("%.0f%s", v, unit)
	case math.Abs(v) >= 9.995:
		return fmt.Sprintf("%.1f%s", v, unit)
	}
	return fmt.Sprintf("%.2f%s", v, unit)
}

func seconds(s float64) string { return short(time.Duration(s * 1e9)) }

// bytes is a size with three digits.
func bytes(n uint64) string {
	v, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1024, u
	}
	if unit == "B" {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%.3g%s", v, unit)
}

// nanoseconds is a time that may be less than one.
func nanoseconds(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.2fns", v)
	}
	return short(time.Duration(v))
}
