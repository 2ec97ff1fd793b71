package files_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// Readers that stop anywhere and go on in another number read every line once, in
// lines or in blocks.
func TestEveryLineIsReadOnceAcrossRestores(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-c\n]{0,12}`), 0, 40).Draw(rt, "lines"), "")
		o := files.Options{
			Root:     writeFile(t, filepath.Join(dir, "input"), content),
			MaxSplit: int64(rapid.IntRange(1, 60).Draw(rt, "split")),
		}
		src := files.Lines(o)
		if rapid.Bool().Draw(rt, "blocks") {
			src = files.Blocks(o)
		}
		var g gather
		var positions [][]byte
		for attempt := range 3 {
			p := rapid.IntRange(1, 4).Draw(rt, "parallelism")
			var next [][]byte
			for i := range p {
				ctx := operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: p}, Restored: attempt > 0}
				for k := i; k < len(positions); k += p {
					ctx.Splits = append(ctx.Splits, positions[k])
				}
				r, out := open(t, src, &g, ctx)
				n := 1000
				if attempt < 2 {
					n = rapid.IntRange(0, 8).Draw(rt, "records")
				}
				out.Allow(n)
				_, err := r.Read(out)
				if err == nil {
					next, err = r.Splits(next)
				}
				if err == nil {
					err = r.Close()
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
			positions = next
		}
		var got []string
		if len(g.lines) > 0 {
			got = strings.Split(strings.Join(g.lines, "\n"), "\n")
		}
		want := plainLines(content)
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) || len(positions) != 0 {
			rt.Fatalf("%q, want %q; %d positions left", got, want, len(positions))
		}
	})
}
