package files_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// Three readers stop after each number of lines, two go on and stop after each number,
// and five do the rest, some of which have nothing to do.
func TestEveryPositionIsGoneOnFrom(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 4 {
		var lines []string
		for k := range 4 {
			lines = append(lines, fmt.Sprint(i, strings.Repeat("-", k*3)))
		}
		writeFile(t, filepath.Join(dir, fmt.Sprint(i)), strings.Join(lines, "\n"))
		want = append(want, lines...)
	}
	slices.Sort(want)
	src := files.Lines(files.Options{Root: dir, MaxSplit: 7})
	for first := range 8 {
		for second := range 10 {
			var g gather
			var positions [][]byte
			for attempt, p := range []int{3, 2, 5} {
				var next [][]byte
				for i := range p {
					ctx := operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: p}, Restored: attempt > 0}
					for k := i; k < len(positions); k += p {
						ctx.Splits = append(ctx.Splits, positions[k])
					}
					r, out := open(t, src, &g, ctx)
					n := []int{first, second, 1000}[attempt]
					out.Allow(n)
					status, err := r.Read(out)
					if err == nil && status != operators.Ended && n > 0 && attempt > 0 && len(ctx.Splits) == 0 {
						t.Fatalf("status %v of a reader without splits", status)
					}
					if err == nil {
						next, err = r.Splits(next)
					}
					if err == nil {
						err = r.Close()
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				positions = next
			}
			if slices.Sort(g.lines); !slices.Equal(g.lines, want) || len(positions) != 0 {
				t.Fatalf("%d and %d lines: %q, want %q; %d positions left", first, second, g.lines, want, len(positions))
			}
		}
	}
}
