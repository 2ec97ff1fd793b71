package report

import (
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/internal/atomicfile"
)

//go:embed page.html
var pageText string

// page is what the template gets.
type page struct {
	Docs        []*bench.Document
	Goals       []bench.GoalLine
	Met, Missed int
	Figures     []figure
	Skipped     []string // files that are no results
}

// Write writes the page of some documents. skipped are files that are not in it, and why.
func Write(w io.Writer, docs []*bench.Document, skipped []error) error {
	p := page{Docs: docs, Goals: bench.Goals(docs), Figures: figures(docs)}
	for _, g := range p.Goals {
		if g.Met {
			p.Met++
		} else {
			p.Missed++
		}
	}
	for _, s := range skipped {
		p.Skipped = append(p.Skipped, s.Error())
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"quantity":   bench.Quantity,
		"svg":        func(f figure) template.HTML { return template.HTML(f.SVG()) }, // its texts are escaped
		"ratio":      ratioText,
		"parameters": parameters,
		"short":      func(s string) string { return s[:min(12, len(s))] },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// WriteSVGs writes each plot as a file of its own, and returns their names.
func WriteSVGs(dir string, docs []*bench.Document) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range figures(docs) {
		name := filepath.Join(dir, f.File()+".svg")
		if err := atomicfile.ReplaceText(name, 0o644, f.SVG()); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// ratioText writes a ratio, that of something to nothing too.
func ratioText(v float64) string {
	if v > 1e300 {
		return "∞"
	}
	return fmt.Sprintf("%.3g", v)
}

// parameters are those of a case on one line, in order.
func parameters(r bench.Result) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		parts = append(parts, fmt.Sprintf("%s %v", strings.ReplaceAll(name, "_", " "), r.Parameters[name]))
	}
	return strings.Join(parts, " · ")
}
