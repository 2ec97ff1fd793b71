package report

import (
	"fmt"
	"math"

	"github.com/overtake-stream/overtake/bench"
)

// bars has a line for each of some figures, from a mark to its value: ratios begin at 1.
type bars struct {
	file, title, note string
	Axis              axis
	from              float64
	rows              []bar
}

// bar is a figure with the range of its runs.
type bar struct {
	label            string
	value, low, high float64
	better           string  // bench.Higher, bench.Lower or ""
	goal             float64 // 0: none
	text             string
	colour           int // if better is ""
}

// File implements figure.
func (b *bars) File() string { return b.file }

// Note implements figure.
func (b *bars) Note() string { return b.note }

const barLine, barTop, longestLabel = 26.0, 44.0, 64

// SVG implements figure.
func (b *bars) SVG() string {
	values := []float64{b.from}
	label := 0.0
	for i, r := range b.rows {
		if n := []rune(r.label); len(n) > longestLabel {
			b.rows[i].label = string(n[:longestLabel-1]) + "…"
		}
		label = max(label, wide(b.rows[i].label))
		values = append(values, r.value, r.low, r.high)
		if r.goal > 0 {
			values = append(values, r.goal)
		}
	}
	b.Axis.fit(values)
	x0, x1 := 24+label, 24+label+440
	height := barTop + barLine*float64(len(b.rows)) + 50
	d := newDrawing(x1+130, height, b.title)
	x := func(v float64) float64 { return x0 + b.Axis.place(v)*(x1-x0) }
	base := height - 46
	last := -1e9
	for _, t := range b.Axis.ticks() {
		d.line(x(t.at), barTop, x(t.at), base, "grid")
		if x(t.at)-last > wide(t.label)+8 {
			d.text(x(t.at), base+18, "middle", "soft", t.label)
			last = x(t.at)
		}
	}
	for i, r := range b.rows {
		b.draw(d, r, barTop+barLine*(float64(i)+0.5), x0, x1, x)
	}
	d.line(x(b.from), barTop, x(b.from), base, "axis")
	d.text((x0+x1)/2, base+38, "middle", "soft", b.Axis.Label)
	return d.end()
}

func (b *bars) draw(d *drawing, r bar, y, x0, x1 float64, x func(float64) float64) {
	c := colour(r.colour)
	if r.better != "" {
		c = "var(--bad)"
		if (r.value >= b.from) == (r.better == bench.Higher) {
			c = "var(--good)"
		}
	}
	from, to := math.Min(x(b.from), x(r.value)), math.Max(x(b.from), x(r.value))
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="14" rx="2" fill="%s" opacity="0.8"/>`, from, y-7, math.Max(1.5, to-from), c)
	if r.high > r.low {
		d.stroke(x(r.low), y, x(r.high), y, "var(--ink)", 1.5)
	}
	if r.goal > 0 {
		d.stroke(x(r.goal), y-10, x(r.goal), y+10, "var(--c4)", 3)
	}
	d.text(x0-10, y+4, "end", "", r.label)
	d.text(x1+12, y+4, "start", "soft", r.text)
}
