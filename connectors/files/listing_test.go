package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// Subtasks agree on who reads what although files come and grow while they start; the
// next attempt sees what has come.
func TestSubtasksAgreeWhileFilesChange(t *testing.T) {
	dir := t.TempDir()
	var present []string
	add := func(line string) {
		present = append(present, line)
		writeFile(t, filepath.Join(dir, fmt.Sprint(len(present))), line+"\n")
	}
	for i := range 10 {
		add(strings.Repeat("x", i))
	}
	src := files.Lines(files.Options{Root: dir})
	for attempt := range 2 {
		want := slices.Sorted(slices.Values(present))
		var g gather
		for i := range 3 {
			r, out := open(t, src, &g, operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: 3}})
			drain(t, r, out, 5)
			add(fmt.Sprintf("added in attempt %d after subtask %d", attempt, i))
		}
		if slices.Sort(g.lines); !slices.Equal(g.lines, want) {
			t.Fatalf("attempt %d: %q, want %q", attempt, g.lines, want)
		}
	}
}

// An attempt of which only some subtasks began leaves its list to nobody.
func TestLaterAttemptsListAnew(t *testing.T) {
	dir := t.TempDir()
	src := files.Lines(files.Options{Root: dir})
	var g gather
	read := func(epoch uint64, i int) {
		r, out := open(t, src, &g, operators.SourceContext{Context: attempt(epoch, i, 3)})
		drain(t, r, out, 5)
	}
	for n := range 6 {
		writeFile(t, filepath.Join(dir, fmt.Sprint(n)), strings.Repeat("x", 10-n)+"\n")
	}
	read(1, 0)
	g.lines = nil
	for n := range 6 {
		writeFile(t, filepath.Join(dir, fmt.Sprint("more", n)), strings.Repeat("y", 20-n)+"\n")
	}
	for _, i := range []int{2, 0, 1} { // 2 comes first, for the first time
		read(2, i)
	}
	if len(g.lines) != 12 {
		t.Fatalf("%q", g.lines)
	}
}

func TestSharesAreOfEvenSize(t *testing.T) {
	dir := t.TempDir()
	for i, size := range []int{400, 10, 10, 10, 190, 200, 10} {
		writeFile(t, filepath.Join(dir, fmt.Sprint(i)), strings.Repeat("x", size-1)+"\n")
	}
	src := files.Lines(files.Options{Root: dir})
	for i := range 2 {
		var g gather
		r, out := open(t, src, &g, operators.SourceContext{Context: &operators.Context{Subtask: i, Parallelism: 2}})
		drain(t, r, out, 100)
		if total := len(strings.Join(g.lines, "\n")) + 1; total < 390 || total > 440 {
			t.Errorf("subtask %d reads %d of 830 bytes", i, total)
		}
	}
}

func TestOnlyRootMayBeALinkAndSpecialFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Mkdir(real, 0o700); err != nil {
		t.Fatal(err)
	}
	outside := writeFile(t, filepath.Join(dir, "outside"), "outside\n")
	writeFile(t, filepath.Join(real, "inside"), "inside\n")
	pipe := filepath.Join(real, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	for to, from := range map[string]string{real: link, outside: filepath.Join(real, "file"), dir: filepath.Join(real, "up")} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{real, link} {
		if got, err := lines(t, files.Lines(files.Options{Root: root})); err != nil || !slices.Equal(got, []string{"inside"}) {
			t.Errorf("%s: %q, %v", root, got, err)
		}
	}
	if _, err := lines(t, files.Lines(files.Options{Root: pipe})); err == nil || !strings.Contains(err.Error(), "neither a folder nor a regular file") {
		t.Errorf("error %v of a pipe", err)
	}
}
