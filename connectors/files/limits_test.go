package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// lines reads a source in one subtask: its records, and the error it ended with.
func lines(t testing.TB, src operators.Source[string]) ([]string, error) {
	t.Helper()
	var g gather
	ctx := &operators.Context{Parallelism: 1}
	r, err := src.Open(operators.SourceContext{Context: ctx})
	if err != nil {
		return nil, err
	}
	out := operators.NewOutput(ctx, &g)
	for {
		out.Allow(100)
		status, err := r.Read(out)
		if status == operators.Ended || err != nil {
			return g.lines, errors.Join(err, r.Close())
		}
	}
}

// A line may be as long as MaxLine, and not a byte longer, wherever it lies.
func TestMaxLineIsExact(t *testing.T) {
	name := filepath.Join(t.TempDir(), "input")
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.SampledFrom([]int{1, 7, 1000, 64 << 10, 300_000}).Draw(rt, "limit")
		before := rapid.IntRange(0, 5).Draw(rt, "before")
		over := rapid.IntRange(0, 1).Draw(rt, "over")
		end := rapid.SampledFrom([]string{"", "\n", "\nx", "\nx\n"}).Draw(rt, "end")
		content := strings.Repeat("\n", before) + strings.Repeat("y", limit+over) + end
		writeFile(t, name, content)
		o := files.Options{Root: name, MaxLine: limit, MaxSplit: int64(limit/rapid.IntRange(1, 9).Draw(rt, "splits") + 2)}
		for _, src := range []operators.Source[string]{files.Lines(o), files.Blocks(o)} {
			got, err := lines(t, src)
			switch {
			case over == 0 && (err != nil || strings.Join(got, "\n") != strings.TrimSuffix(content, "\n")):
				rt.Fatalf("%d records, %v", len(got), err)
			case over == 1 && (err == nil || !strings.Contains(err.Error(), "longer than MaxLine")):
				rt.Fatalf("error %v of a line that is too long", err)
			}
		}
	})
}

func TestTheErrorOfALongLineSaysWhere(t *testing.T) {
	name := writeFile(t, filepath.Join(t.TempDir(), "input"), "short\nmuch longer\nshort\n")
	want := "files: " + name + ": the line at byte 6 is longer than MaxLine, 8 bytes"
	for _, src := range []operators.Source[string]{
		files.Lines(files.Options{Root: name, MaxLine: 8}), files.Blocks(files.Options{Root: name, MaxLine: 8}),
	} {
		if _, err := lines(t, src); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestLineEndsAreNoPartOfLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "input")
	for content, want := range map[string][]string{
		"":              nil,
		"\n":            {""},
		"a":             {"a"},
		"a\n":           {"a"},
		"a\n\nb":        {"a", "", "b"},
		"a\r\nb\r":      {"a\r", "b\r"}, // \r stays: it is for the reader to say what it means
		"\x00\xff\nb\n": {"\x00\xff", "b"},
	} {
		got, err := lines(t, files.Lines(files.Options{Root: writeFile(t, name, content)}))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v, want %q", content, got, err, want)
		}
	}
}

func TestBlocksAreWholeLinesOfBoundedSize(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		b.WriteString(strings.Repeat("z", i%997) + "\n")
	}
	long := strings.Repeat("l", 200<<10)
	content := b.String() + long + "\nend\n"
	name := writeFile(t, filepath.Join(t.TempDir(), "input"), content)
	got, err := lines(t, files.Blocks(files.Options{Root: name}))
	if err != nil || strings.Join(got, "\n")+"\n" != content {
		t.Fatal("the blocks are not the file", err)
	}
	for i, block := range got {
		if len(block) > 64<<10 && block != long {
			t.Errorf("block %d of %d bytes", i, len(block))
		}
	}
	if len(got) > len(content)/(60<<10)+3 {
		t.Errorf("%d blocks: they are not full", len(got))
	}
}

func TestFilesThatShrinkAreNoticed(t *testing.T) {
	for _, single := range []bool{true, false} {
		name := writeFile(t, filepath.Join(t.TempDir(), "input"), strings.Repeat("line\n", 100))
		src := files.Blocks(files.Options{Root: name, MaxSplit: 100})
		if single {
			src = files.Lines(files.Options{Root: name, MaxSplit: 100})
		}
		for _, size := range []int64{450, 301, 299, 3, 0} {
			ctx := &operators.Context{Parallelism: 1}
			r, err := src.Open(operators.SourceContext{Context: ctx})
			if err != nil {
				t.Fatal(err)
			}
			content := strings.Repeat("line\n", 100)
			writeFile(t, name, content[:size])
			out := operators.NewOutput(ctx, &gather{})
			out.Allow(1000)
			if _, err := r.Read(out); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "shrink") {
				t.Errorf("%d bytes left: error %v", size, err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			writeFile(t, name, content)
		}
	}
}

func TestAFileThatIsGoneIsNamed(t *testing.T) {
	name := writeFile(t, filepath.Join(t.TempDir(), "input"), "line\n")
	var g gather
	r, out := open(t, files.Lines(files.Options{Root: name}), &g, operators.SourceContext{})
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	out.Allow(1)
	if _, err := r.Read(out); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
		t.Fatalf("error %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadingCostsNoAllocation(t *testing.T) {
	name := writeFile(t, filepath.Join(t.TempDir(), "input"), strings.Repeat("a line of a usual length\n", 200_000))
	for what, src := range map[string]operators.Source[string]{
		"line": files.Lines(files.Options{Root: name}), "block": files.Blocks(files.Options{Root: name}),
	} {
		ctx := &operators.Context{Parallelism: 1}
		r, err := src.Open(operators.SourceContext{Context: ctx})
		if err != nil {
			t.Fatal(err)
		}
		out := operators.NewOutput(ctx, nothing{})
		n := testing.AllocsPerRun(10, func() {
			out.Allow(3)
			if _, err := r.Read(out); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

type nothing struct{}

func (nothing) Collect(string) {}

func TestDamagedPositionsAreNoPanic(t *testing.T) {
	name := writeFile(t, filepath.Join(t.TempDir(), "input"), strings.Repeat("line\n", 50))
	rapid.Check(t, func(rt *rapid.T) {
		var g gather
		r, _ := open(t, files.Lines(files.Options{Root: name, MaxSplit: 60}), &g, operators.SourceContext{})
		positions, err := r.Splits(nil)
		if err != nil {
			rt.Fatal(err)
		}
		b := positions[rapid.IntRange(0, len(positions)-1).Draw(rt, "split")]
		b = slices.Clone(b[:rapid.IntRange(0, len(b)).Draw(rt, "length")])
		if len(b) > 0 {
			b[rapid.IntRange(0, min(len(b)-1, 5)).Draw(rt, "at")] ^= rapid.Byte().Draw(rt, "flip")
		}
		ctx := &operators.Context{Parallelism: 1}
		damaged, err := files.Lines(files.Options{Root: name}).Open(operators.SourceContext{Context: ctx, Restored: true, Splits: [][]byte{b}})
		if err != nil {
			return
		}
		out := operators.NewOutput(ctx, &g)
		out.Allow(1000)
		_, _ = damaged.Read(out)
		if err := damaged.Close(); err != nil || len(g.lines) > 50 {
			rt.Fatalf("%d records, %v", len(g.lines), err)
		}
	})
}
