package report

import (
	"fmt"
	"strings"
)

// plot has lines over two axes.
type plot struct {
	file, title, note string
	X, Y              axis
	Series            []series
}

// series is one line.
type series struct {
	name   string
	colour int
	dashed bool // a baseline's
	bare   bool // without marks at its points
	points []point
}

// point is a place on a line, with the range of its runs; Low and High may be 0: none.
type point struct{ X, Y, Low, High float64 }

// figure is a plot of some kind.
type figure interface {
	File() string // name without its ending
	Note() string // what the figure cannot say itself
	SVG() string
}

// File implements figure.
func (p *plot) File() string { return p.file }

// Note implements figure.
func (p *plot) Note() string { return p.note }

const (
	plotWidth, plotHeight = 760.0, 430.0
	left, right           = 92.0, 24.0
	top, bottom           = 44.0, 56.0
	legendLine            = 20.0
)

// SVG implements figure.
func (p *plot) SVG() string {
	var xs, ys []float64
	for _, s := range p.Series {
		for _, v := range s.points {
			xs, ys = append(xs, v.X), append(ys, v.Y)
			if v.High > 0 {
				ys = append(ys, v.Low, v.High)
			}
		}
	}
	p.X.fit(xs)
	p.Y.fit(ys)
	rows := p.legendRows()
	d := newDrawing(plotWidth, plotHeight+float64(rows)*legendLine, p.title)
	p.axes(d)
	for _, s := range p.Series {
		p.draw(d, s)
	}
	p.legend(d)
	return d.end()
}

func (p *plot) x(v float64) float64 { return left + p.X.place(v)*(plotWidth-left-right) }
func (p *plot) y(v float64) float64 {
	return plotHeight - bottom - p.Y.place(v)*(plotHeight-top-bottom)
}

func (p *plot) axes(d *drawing) {
	base := plotHeight - bottom
	for _, t := range p.Y.ticks() {
		d.line(left, p.y(t.at), plotWidth-right, p.y(t.at), "grid")
		d.text(left-8, p.y(t.at)+4, "end", "soft", t.label)
	}
	last := -1e9
	for _, t := range p.X.ticks() {
		x := p.x(t.at)
		d.line(x, top, x, base, "grid")
		if x-last < wide(t.label)+8 {
			continue // it would touch the one before
		}
		last = x
		d.text(x, base+18, "middle", "soft", t.label)
	}
	d.line(left, base, plotWidth-right, base, "axis")
	d.line(left, top, left, base, "axis")
	d.text((left+plotWidth-right)/2, base+40, "middle", "soft", p.X.Label)
	d.upright(20, (top+base)/2, p.Y.Label)
}

func (p *plot) draw(d *drawing, s series) {
	c, dash := colour(s.colour), ""
	if s.dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	var path strings.Builder
	for i, v := range s.points {
		fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], p.x(v.X), p.y(v.Y))
	}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`, path.String(), c, dash)
	for _, v := range s.points {
		if v.High > v.Low && !s.dashed {
			d.stroke(p.x(v.X), p.y(v.Low), p.x(v.X), p.y(v.High), c, 1)
		}
		if !s.bare {
			fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`, p.x(v.X), p.y(v.Y), c)
		}
	}
}

// entries calls f with the place of each series in the legend, and returns the number of
// lines that it takes.
func (p *plot) entries(f func(i int, x float64, row int)) int {
	x, row := left, 0
	for i, s := range p.Series {
		w := 34 + wide(s.name) + 18
		if x+w > plotWidth-right && x > left {
			x, row = left, row+1
		}
		f(i, x, row)
		x += w
	}
	return row + 1
}

func (p *plot) legendRows() int { return p.entries(func(int, float64, int) {}) }

func (p *plot) legend(d *drawing) {
	p.entries(func(i int, x float64, row int) {
		s, y := p.Series[i], plotHeight+4+float64(row)*legendLine
		dash := ""
		if s.dashed {
			dash = ` stroke-dasharray="5 4"`
		}
		fmt.Fprintf(d, `<path d="M%.1f %.1fh24" stroke="%s" stroke-width="2.5"%s/>`, x, y-4, colour(s.colour), dash)
		d.text(x+30, y, "start", "", s.name)
	})
}
