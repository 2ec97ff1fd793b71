package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/report"
	"github.com/overtake-stream/overtake/internal/atomicfile"
)

type reportCmd struct {
	Dir string `arg:"" help:"Folder with results of overtake bench --out." placeholder:"DIR"`
	Out string `help:"Page to write. Default: report.html in that folder." placeholder:"FILE"`
	SVG string `help:"Write each plot as a file into this folder, too." name:"svg" placeholder:"DIR"`
}

// Run writes the page.
func (c *reportCmd) Run() (err error) {
	docs, skipped, err := bench.LoadAll(c.Dir)
	if err != nil {
		return err
	}
	out := c.Out
	if out == "" {
		if out = filepath.Join(c.Dir, "report.html"); len(docs) == 1 && len(skipped) == 0 {
			if info, err := os.Stat(c.Dir); err == nil && !info.IsDir() {
				out = c.Dir + ".html"
			}
		}
	}
	err = atomicfile.Replace(out, 0o644, func(w io.Writer) error { return report.Write(w, docs, skipped) })
	if err != nil {
		return err
	}
	fmt.Println(out)
	if c.SVG == "" {
		return nil
	}
	names, err := report.WriteSVGs(c.SVG, docs)
	for _, name := range names {
		fmt.Println(name)
	}
	return err
}
