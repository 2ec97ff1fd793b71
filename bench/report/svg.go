package report

import (
	"fmt"
	"html"
	"strings"
)

// drawing is an SVG image that is being written.
type drawing struct {
	strings.Builder
	width, height float64
}

// style gives an image its colours by itself, light or dark as the reader has it.
const style = `<style>
.ov{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;--ink:#1c2230;--soft:#5b6472;--grid:#e3e6eb;--back:#ffffff;--c0:#1f6feb;--c1:#d9480f;--c2:#2b8a3e;--c3:#9c36b5;--c4:#b08800;--c5:#0b7285;--c6:#c2255c;--c7:#5c677d;--good:#2b8a3e;--bad:#c92a2a}
@media (prefers-color-scheme:dark){.ov{--ink:#e6e9ef;--soft:#a3acba;--grid:#2d333d;--back:#14171c;--c0:#6cb0ff;--c1:#ff9b5e;--c2:#69db7c;--c3:#d896ee;--c4:#f0c93d;--c5:#4fd1e0;--c6:#ff85b0;--c7:#a8b3c7;--good:#69db7c;--bad:#ff8787}}
.ov text{fill:var(--ink)}.ov .soft{fill:var(--soft);font-size:12px}.ov .title{font-size:15px;font-weight:600}.ov .grid{stroke:var(--grid);stroke-width:1}.ov .axis{stroke:var(--soft);stroke-width:1}
</style>`

func newDrawing(width, height float64, title string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg class="ov" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s`, width, height, html.EscapeString(title), style)
	fmt.Fprintf(d, `<rect width="%.0f" height="%.0f" fill="var(--back)"/>`, width, height)
	d.text(16, 24, "start", "title", title)
	return d
}

func (d *drawing) end() string {
	d.WriteString("</svg>\n")
	return d.String()
}

// text writes s with its anchor (start, middle or end) at x, y.
func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

func (d *drawing) stroke(x1, y1, x2, y2 float64, colour string, width float64) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>`, x1, y1, x2, y2, colour, width)
}

// upright writes s along a vertical axis.
func (d *drawing) upright(x, y float64, s string) {
	fmt.Fprintf(d, `<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle" class="soft">%s</text>`, x, y, html.EscapeString(s))
}

// colour is one of eight, in turn.
func colour(i int) string { return fmt.Sprintf("var(--c%d)", i%8) }

// wide is about how wide a text is, in pixels.
func wide(s string) float64 { return 6.7 * float64(len([]rune(s))) }
