package files_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

// gather collects clones of a reader's records.
type gather struct{ lines []string }

func (g *gather) Collect(v string) { g.lines = append(g.lines, strings.Clone(v)) }

// open opens one reader of a source that feeds g.
func open(t rapid.TB, src operators.Source[string], g *gather, ctx operators.SourceContext) (operators.Reader[string], *operators.Output[string]) {
	if ctx.Context == nil {
		ctx.Context = &operators.Context{Parallelism: 1}
	}
	r, err := src.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r, operators.NewOutput(ctx.Context, g)
}

// drain reads a reader to its end in batches of n.
func drain(t rapid.TB, r operators.Reader[string], out *operators.Output[string], n int) {
	for {
		out.Allow(n)
		status, err := r.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if status == operators.Ended {
			break
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func plainLines(content string) []string {
	if content == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(content, "\n"), "\n")
}

func TestEveryLineIsReadOnceWhateverTheSplits(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-c\n]{0,12}`), 0, 30).Draw(t, "lines"), "")
		name := filepath.Join(dir, "input")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		o := files.Options{Root: name, MaxSplit: int64(rapid.IntRange(1, 40).Draw(t, "split"))}
		parallelism := rapid.IntRange(1, 4).Draw(t, "parallelism")
		for _, source := range []operators.Source[string]{files.Lines(o), files.Blocks(o)} {
			var g gather
			for i := range parallelism {
				r, out := open(t, source, &g, operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: parallelism}})
				drain(t, r, out, 3)
			}
			got, want := strings.Split(strings.Join(g.lines, "\n"), "\n"), plainLines(content)
			if len(g.lines) == 0 {
				got = nil
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q: %s", content, diff)
			}
		}
	})
}

func TestPositionsOfThreeReadersGoOnInTwo(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for f := range 5 {
		var b bytes.Buffer
		for i := range 400 {
			line := fmt.Sprintf("file %d line %d %s", f, i, strings.Repeat("x", rand.IntN(50)))
			want = append(want, line)
			b.WriteString(line + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := files.Lines(files.Options{Root: dir, MaxSplit: 1000})
	var g gather
	var positions [][]byte
	for i := range 3 {
		r, out := open(t, source, &g, operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: 3}})
		out.Allow(100 + 77*i)
		if _, err := r.Read(out); err != nil {
			t.Fatal(err)
		}
		var err error
		if positions, err = r.Splits(positions); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		var mine [][]byte
		for k := i; k < len(positions); k += 2 {
			mine = append(mine, positions[k])
		}
		r, out := open(t, source, &g, operators.SourceContext{Restored: true, Splits: mine})
		drain(t, r, out, 10)
	}
	slices.Sort(want)
	slices.Sort(g.lines)
	if diff := cmp.Diff(want, g.lines); diff != "" {
		t.Fatal(diff)
	}
}

func TestGlobChoosesFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "a.txt", "d/b.go", "d/e/c.go", "d/e/c.md"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"**/*.go": "a.go d/b.go d/e/c.go", "*.go": "a.go", "d/**": "d/b.go d/e/c.go d/e/c.md",
		"d/*/*.go": "d/e/c.go", "**/e/*": "d/e/c.go d/e/c.md", "": "a.go a.txt d/b.go d/e/c.go d/e/c.md",
	} {
		var g gather
		r, out := open(t, files.Lines(files.Options{Root: dir, Glob: pattern}), &g, operators.SourceContext{})
		drain(t, r, out, 100)
		slices.Sort(g.lines)
		if got := strings.Join(g.lines, " "); got != want {
			t.Errorf("%q chose %q, want %q", pattern, got, want)
		}
	}
}

func TestBadInputHasAClearError(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long")
	if err := os.WriteFile(long, bytes.Repeat([]byte("y"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts files.Options
		want string
	}{
		{files.Options{}, "Root is empty"},
		{files.Options{Root: filepath.Join(dir, "none")}, "no such file"},
		{files.Options{Root: dir, Glob: "[a"}, `glob "[a"`},
		{files.Options{Root: long, MaxLine: 100}, "longer than MaxLine"},
	} {
		job := overtake.NewJob("bad", overtake.Options{Parallelism: 2})
		overtake.To(overtake.From(job, files.Lines(c.opts)), memory.Discard[string]())
		err := job.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.opts, err, c.want)
		}
	}
}
