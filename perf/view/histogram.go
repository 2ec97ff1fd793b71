package view

import (
	"io"
	"strings"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// barWidth is that of the longest bar, in characters.
const barWidth = 40

// WriteHistogram prints a line for each power of two, from the least to the greatest
// that has any, and quantiles, which are upper bounds.
func WriteHistogram(w io.Writer, h *ebpf.Histogram) error {
	p := newPrinter(w)
	n, most, first, last := h.Count(), uint64(0), -1, 0
	for i, b := range h.Buckets {
		if b > 0 {
			most, last = max(most, b), i
			if first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		p.line("  none")
		return p.flush()
	}
	for i := first; i <= last; i++ {
		b := h.Buckets[i]
		bar := int(float64(b)/float64(most)*barWidth + 0.5)
		if b > 0 {
			bar = max(bar, 1)
		}
		p.line("  [%s,\t%s)\t%d\t|%s|", short(time.Duration(1)<<min(i, 62)), short(time.Duration(1)<<min(i+1, 62)), b,
			strings.Repeat("@", bar)+strings.Repeat(" ", barWidth-bar))
	}
	p.line("  %d in all: p50 < %s, p99 < %s, p99.9 < %s, max < %s", n,
		short(h.Quantile(0.5)), short(h.Quantile(0.99)), short(h.Quantile(0.999)), short(h.Quantile(1)))
	return p.flush()
}

// WriteRunQueue prints how long threads waited for a processor, in a report of the
// processes that title names.
func WriteRunQueue(w io.Writer, title string, r *ebpf.RunQueueReport) error {
	p := newPrinter(w)
	p.line("%s, %s: waits of threads for a processor", title, short(r.Duration))
	p.refusals(r.Refusals)
	p.queues(r.Processes)
	if r.Waits == nil {
		p.line("  histogram n/a")
	}
	if err := p.flush(); err != nil || r.Waits == nil {
		return err
	}
	return WriteHistogram(w, r.Waits)
}
