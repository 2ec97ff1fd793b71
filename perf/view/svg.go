package view

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
)

// The picture's measures, in pixels.
const (
	chartLeft   = 78
	chartWidth  = 720
	chartRight  = 190 // for the legend
	panelHeight = 190
	panelGap    = 62
	legendStep  = 17
	headHeight  = 30
)

// stageColor has one hue for each of the two programs and one for the kernel; credit
// has its own, as that is what a slow receiver shows as.
var stageColor = [ebpf.Stages]string{
	ebpf.Fill: "#9ecae1", ebpf.Credit: "#d62728", ebpf.SendQueue: "#4292c6", ebpf.Batch: "#08519c",
	ebpf.GoEntry: "#fee391", ebpf.KernelSend: "#fec44f", ebpf.SocketQueue: "#fe9929", ebpf.Network: "#ec7014",
	ebpf.Wake: "#d8b5e8", ebpf.Runnable: "#8c510a", ebpf.GoScheduler: "#c7e9c0", ebpf.ReadCall: "#a1d99b",
	ebpf.Unread: "#74607f", ebpf.Decode: "#5ab46a", ebpf.ReceiveQueue: "#238b45", ebpf.Process: "#00441b",
}

var lineColor = [...]string{"#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#17becf"}

// drawing is a picture under construction.
type drawing struct {
	s     strings.Builder
	first int64
	n     int // intervals
	width float64
	y     float64 // top of the current panel
	t     *Timeline
}

// WriteSVG draws the timeline: for each edge the stages' mean times, stacked, and below
// them the credit of each worker. It needs no other file.
func (t *Timeline) WriteSVG(w io.Writer) error {
	d := &drawing{t: t, y: headHeight}
	d.first, d.n = t.span()
	d.width = chartWidth / float64(max(d.n, 1))
	for _, e := range t.edges {
		d.stages(e)
	}
	if len(t.edges) == 0 {
		d.panel("no message was seen from end to end", 1, func(float64) string { return "" })
		d.y += panelHeight + panelGap
	}
	d.levels("credits: buffers that may be sent at once", func(l Level) int { return l.Credits })
	if t.starved > 0 {
		d.levels("channels that have data and no credit", func(l Level) int { return l.Starved })
	}
	legend := headHeight + 8 + legendStep*(len(t.stages())+len(t.credit)+3)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %[2]d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="#fff"/>
%[3]s</svg>
`, chartLeft+chartWidth+chartRight, max(int(d.y)-panelGap+44, legend), d.s.String())
	return err
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.s, format+"\n", args...) }

func (d *drawing) text(x, y float64, anchor, format string, args ...any) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222">%s</text>`, x, y, anchor, html.EscapeString(fmt.Sprintf(format, args...)))
}

// panel draws the frame of a panel whose values go from 0 to top.
func (d *drawing) panel(title string, top float64, label func(float64) string) {
	d.printf(`<text x="%d" y="%.1f" font-weight="bold" fill="#222">%s</text>`, chartLeft, d.y-9, html.EscapeString(title))
	step := niceStep(top / 4)
	for v := 0.0; v <= top*1.0001; v += step {
		y := d.at(v, top)
		d.printf(`<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" stroke="#ddd"/>`, chartLeft, chartLeft+chartWidth, y)
		d.text(chartLeft-6, y+4, "end", "%s", label(v))
	}
	length := float64(d.n) * d.t.interval.Seconds()
	if length <= 0 {
		return
	}
	for v, step := 0.0, niceStep(length/8); v <= length*1.0001; v += step {
		x := chartLeft + v/length*chartWidth
		d.printf(`<line x1="%.1f" x2="%.1[1]f" y1="%.1f" y2="%.1f" stroke="#666"/>`, x, d.y+panelHeight, d.y+panelHeight+4)
		d.text(x, d.y+panelHeight+17, "middle", "%s", clean(v)+"s")
	}
}

// at is where a value is, in a panel that goes from 0 to top.
func (d *drawing) at(v, top float64) float64 { return d.y + panelHeight*(1-v/top) }

func (d *drawing) x(i int) float64 { return chartLeft + float64(i)*d.width }

// stages draws an edge's panel, a column for each interval; one without messages is left
// blank.
func (d *drawing) stages(e *edgeLine) {
	top, messages := 0.0, int64(0)
	for _, c := range e.columns {
		sum := 0.0
		for s := range ebpf.Stages {
			sum += c.mean(s)
		}
		top, messages = max(top, sum), messages+c.messages
	}
	top = ceiling(top)
	d.panel(fmt.Sprintf("process %d to %d: mean time of a message, by stage (%d messages, %s a column)", e.sender, e.receiver, messages, short(d.t.interval)),
		top, axisTime)
	for i := range d.n {
		c, low := e.columns[d.first+int64(i)], 0.0
		if c == nil {
			continue
		}
		for s := range ebpf.Stages {
			v := c.mean(s)
			if v <= 0 {
				continue
			}
			y := d.at(low+v, top)
			d.printf(`<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"><title>%s: %s of %d messages</title></rect>`,
				d.x(i), y, d.width+0.05, d.at(low, top)-y, stageColor[s], s, seconds(v), c.messages)
			low += v
		}
	}
	d.stageLegend()
	d.y += panelHeight + panelGap
}

// stageLegend is drawn once, in the order in which the stages are stacked.
func (d *drawing) stageLegend() {
	if d.y > headHeight {
		return
	}
	list := d.t.stages()
	for i := range list {
		s := list[len(list)-1-i]
		y := d.y + float64(i)*legendStep
		d.printf(`<rect x="%d" y="%.1f" width="12" height="12" fill="%s"/>`, chartLeft+chartWidth+20, y, stageColor[s])
		d.text(chartLeft+chartWidth+38, y+10.5, "start", "%s", s)
	}
}

// levels draws a line for each worker.
func (d *drawing) levels(title string, of func(Level) int) {
	if len(d.t.credit) == 0 {
		d.panel(title+": n/a, as no job was given (--addr)", 1, func(float64) string { return "" })
		d.y += panelHeight + panelGap
		return
	}
	top := 1
	for _, c := range d.t.credit {
		for _, l := range c.levels {
			top = max(top, of(l))
		}
	}
	limit := max(ceiling(float64(top)), 4)
	d.panel(title, limit, clean)
	for k, c := range d.t.credit {
		color := lineColor[k%len(lineColor)]
		var path strings.Builder
		pen := "M"
		for i := range d.n {
			l, ok := c.levels[d.first+int64(i)]
			if !ok {
				pen = "M" // nobody has asked, or the worker has not answered
				continue
			}
			y := d.at(float64(of(l)), limit)
			fmt.Fprintf(&path, "%s%.1f %.1fL%.1f %.1[3]f", pen, d.x(i), y, d.x(i+1))
			pen = "L"
		}
		d.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="1.6"/>`, path.String(), color)
		y := d.y + float64(k)*legendStep
		d.printf(`<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" stroke="%s" stroke-width="3"/>`, chartLeft+chartWidth+20, chartLeft+chartWidth+32, y+6, color)
		d.text(chartLeft+chartWidth+38, y+10.5, "start", "%s", c.worker)
	}
	d.y += panelHeight + panelGap
}

// axisTime is a time as short as it can be.
func axisTime(v float64) string {
	if v == 0 {
		return "0"
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}} {
		if v >= u.size*0.9999 {
			return clean(v/u.size) + u.name
		}
	}
	return clean(v*1e9) + "ns"
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below v.
func niceStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v*0.9999 {
			return f * power
		}
	}
	return 10 * power
}

// ceiling is the end of an axis that has a value on it.
func ceiling(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	step := niceStep(v / 4)
	return math.Ceil(v/step-1e-9) * step
}

// clean is a number without noise behind its digits.
func clean(v float64) string { return fmt.Sprintf("%.6g", math.Round(v*1e6)/1e6) }

// WriteHTML writes a page with the picture and a text below it. It needs no other file.
func (t *Timeline) WriteHTML(w io.Writer, title, text string, at time.Time) error {
	if _, err := fmt.Fprintf(w, `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>%[1]s</title>
<style>body{font:14px sans-serif;margin:2em;color:#222;background:#fff}pre{overflow-x:auto;font-size:12px}svg{max-width:100%%;height:auto}</style>
<h1>%[1]s</h1><p>%[2]s</p>
`, html.EscapeString(title), html.EscapeString(at.Format(time.RFC1123))); err != nil {
		return err
	}
	if err := t.WriteSVG(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "<pre>%s</pre>\n</html>\n", html.EscapeString(text))
	return err
}
