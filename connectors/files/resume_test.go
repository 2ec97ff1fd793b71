package files_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// attempt is the context of subtask i of p in an attempt.
func attempt(epoch uint64, i, p int) *operators.Context {
	return &operators.Context{Epoch: epoch, Subtask: i, Parallelism: p}
}

// resume opens a single-file sink at a position, nil for none.
func resume[T any](sink operators.Sink[T], epoch uint64, at []byte) (operators.ResumableWriter[T], error) {
	var positions [][]byte
	if at != nil {
		positions = [][]byte{at}
	}
	return sink.(operators.ResumableSink[T]).Resume(attempt(epoch, 0, 1), positions)
}

func mustResume(t testing.TB, sink operators.Sink[string], epoch uint64, at []byte) operators.ResumableWriter[string] {
	t.Helper()
	w, err := resume(sink, epoch, at)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// feed writes rows.
func feed(t testing.TB, w operators.Writer[string], rows ...string) {
	t.Helper()
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
}

func position(t testing.TB, w operators.ResumableWriter[string]) []byte {
	t.Helper()
	b, err := w.Position([]byte("before"))
	if err != nil || !bytes.HasPrefix(b, []byte("before")) {
		t.Fatalf("position %q, %v", b, err)
	}
	return b[len("before"):]
}

func mustClose(t testing.TB, w operators.Writer[string], ok bool) {
	t.Helper()
	if err := w.Close(ok); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Fatalf("%s: %q %v, want %q", path, got, err, want)
	}
}

func TestAnotherAttemptGoesOnFromThePosition(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	w := mustResume(t, files.CSV[string](path), 1, nil)
	feed(t, w, "a", "b")
	at := position(t, w)
	feed(t, w, "void")
	mustClose(t, w, false)
	mustHold(t, dir, ".out.pending")

	w = mustResume(t, files.CSV[string](path), 2, at)
	feed(t, w, "c")
	mustClose(t, w, true)
	mustHold(t, dir, "out")
	mustRead(t, path, "value\na\nb\nc\n")
}

// What fails between the last checkpoint and the end of the job is done again, whether
// or not the file has its name already, any number of times.
func TestPublishingIsRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		after []string // written after the checkpoint
		ended bool     // the first attempt published
	}{
		"before the rename":              {nil, false},
		"after the rename":               {nil, true},
		"rows after it, before":          {[]string{"c", "d"}, false},
		"rows after it, and the rename":  {[]string{"c", "d"}, true},
		"many after it, and the rename":  {strings.Split(strings.Repeat("row ", 50_000), " "), true},
		"none but empty, and the rename": {[]string{""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sink := files.TSV[string](filepath.Join(dir, "out"))
			w := mustResume(t, sink, 1, nil)
			feed(t, w, "a", "b")
			at := position(t, w)
			feed(t, w, c.after...)
			mustClose(t, w, c.ended)
			for epoch := range uint64(3) {
				w := mustResume(t, sink, epoch+2, at)
				if again := position(t, w); !bytes.Equal(again, at) {
					t.Fatalf("position %q after %q", again, at)
				}
				feed(t, w, c.after...)
				mustClose(t, w, epoch > 0) // also one that failed
			}
			mustHold(t, dir, "out")
			mustRead(t, filepath.Join(dir, "out"), strings.Join(append([]string{"a", "b"}, c.after...), "\n")+"\n")
		})
	}
}

func TestFilesThatDoNotFitTheCheckpointAreRefused(t *testing.T) {
	dir := t.TempDir()
	path, pending := filepath.Join(dir, "out"), filepath.Join(dir, ".out.pending")
	w := mustResume(t, files.TSV[string](path), 1, nil)
	feed(t, w, "first", "second")
	at := position(t, w)
	mustClose(t, w, false)

	refused := func(sink operators.Sink[string], want error, says string, positions ...[]byte) {
		t.Helper()
		_, err := sink.(operators.ResumableSink[string]).Resume(attempt(2, 0, 1), positions)
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %v with %q", err, want, says)
		}
	}
	sink := files.TSV[string](path)
	for content, want := range map[string]error{"first\n": files.ErrShort, "first\nother!\n": files.ErrForeign, "first\nother!\nand more\n": files.ErrForeign} {
		writeFile(t, pending, content)
		refused(sink, want, pending, at)
		mustRead(t, pending, content) // it is left to look at
	}
	if err := os.Remove(pending); err != nil {
		t.Fatal(err)
	}
	refused(sink, os.ErrNotExist, path, at)
	mustHold(t, dir)
	writeFile(t, path, "an old file, longer than the new one")
	refused(sink, files.ErrForeign, path, at)
	mustHold(t, dir, "out")

	refused(files.TSV[string](filepath.Join(dir, "another")), files.ErrForeign, "that is out", at)
	refused(sink, nil, "use Transactional", at, at)
	for i := range at {
		refused(sink, nil, "", at[:i])
	}
	mustHold(t, dir, "out")
}

func TestOneFileHasOneWriter(t *testing.T) {
	dir := t.TempDir()
	sink := files.TSV[string](filepath.Join(dir, "out"))
	for epoch := range uint64(2) {
		w := mustResume(t, sink, epoch, nil)
		feed(t, w, "mine")
		for other := range uint64(3) {
			if _, err := resume(sink, other, nil); !errors.Is(err, files.ErrInUse) || !strings.Contains(err.Error(), "out") {
				t.Errorf("error %v, want %v", err, files.ErrInUse)
			}
		}
		mustClose(t, w, true)
		mustRead(t, filepath.Join(dir, "out"), "mine\n")
	}
	mustHold(t, dir, "out")
}

// Writers that come while another one publishes or gives up never write at the same time.
func TestWritersOfOneFileNeverOverlap(t *testing.T) {
	dir := quickFolder(t)
	sink := files.TSV[string](filepath.Join(dir, "out"))
	var all sync.WaitGroup
	var inside atomic.Int32
	for g := range 4 {
		all.Go(func() {
			for done := 0; done < 200; {
				w, err := resume(sink, 0, nil)
				if errors.Is(err, files.ErrInUse) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d writers", n)
				}
				err = w.Write("row")
				runtime.Gosched()
				inside.Add(-1)
				if err = errors.Join(err, w.Close(g%2 == 0)); err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	all.Wait()
	mustHold(t, dir, "out")
	mustRead(t, filepath.Join(dir, "out"), "row\n")
}

func TestPartsGoOnWithTheSameNumberOfSubtasksOrMore(t *testing.T) {
	dir := t.TempDir()
	sink := files.Parts(dir, files.TSV[string]).(operators.ResumableSink[string])
	open := func(epoch uint64, i, p int, positions ...[]byte) (operators.ResumableWriter[string], error) {
		return sink.Resume(attempt(epoch, i, p), positions)
	}
	var positions [][]byte
	for i := range 2 {
		w, err := open(1, i, 2)
		if err != nil {
			t.Fatal(err)
		}
		feed(t, w, "a")
		positions = append(positions, position(t, w))
		mustClose(t, w, i == 1)
	}
	if _, err := open(2, 0, 1, positions...); err == nil {
		t.Fatal("no error for fewer subtasks")
	}
	for i := range 3 {
		w, err := open(3, i, 3, append(positions, nil)[i:min(i+1, 2)]...)
		if err != nil {
			t.Fatal(err)
		}
		feed(t, w, "b")
		mustClose(t, w, true)
	}
	mustHold(t, dir, "part-00000", "part-00001", "part-00002")
	mustRead(t, filepath.Join(dir, "part-00000"), "a\nb\n")
	mustRead(t, filepath.Join(dir, "part-00001"), "a\nb\n")
	mustRead(t, filepath.Join(dir, "part-00002"), "b\n")
}

// A writer that is killed anywhere leaves what the kernel has: any part of what came
// after the last checkpoint. The end result is that of a run without failures.
func TestOutputIsExactAfterAnyCrashes(t *testing.T) {
	dir := quickFolder(t)
	path, pending := filepath.Join(dir, "out"), filepath.Join(dir, ".out.pending")
	rapid.Check(t, func(rt *rapid.T) {
		defer func() {
			_ = os.Remove(path)
			_ = os.Remove(pending)
		}()
		row := rapid.OneOf(rapid.StringMatching(`[a-z]{0,5}`), rapid.Just(strings.Repeat("long", 20_000)))
		sink := files.JSONLines[string](path)
		var at []byte         // the checkpoint
		var covered, rows int // bytes of content
		var content []byte    // what the file should have if it ends now
		epoch := uint64(1)
		w := mustResume(t, sink, epoch, nil)
		again := func() {
			epoch++
			w, content = mustResume(t, sink, epoch, at), content[:covered]
		}
		for done := false; !done; {
			switch rapid.SampledFrom([]string{"write", "write", "write", "checkpoint", "crash", "end"}).Draw(rt, "step") {
			case "write": // other rows than the attempt before, so that its own show
				if rows++; rows <= 40 {
					r := row.Draw(rt, "row")
					feed(t, w, r)
					content = append(content, `"`+r+"\"\n"...)
				}
			case "checkpoint":
				at, covered = position(t, w), len(content)
			case "crash":
				mustClose(t, w, false)
				if info, err := os.Stat(pending); err == nil && info.Size() > 0 {
					lose(rt, pending, int64(covered))
				}
				again()
			case "end":
				if rapid.Bool().Draw(rt, "final checkpoint") {
					at, covered = position(t, w), len(content)
				}
				mustClose(t, w, true)
				if done = rapid.Bool().Draw(rt, "done"); !done {
					again()
				}
			}
		}
		if got, _ := os.ReadFile(path); string(got) != string(content) {
			rt.Fatalf("%q, want %q", got, content)
		}
		if _, err := os.Stat(pending); !os.IsNotExist(err) {
			rt.Fatalf("the pending file is left: %v", err)
		}
	})
}

// lose cuts a file after what was made durable, or adds to it what no checkpoint knows.
func lose(rt *rapid.T, path string, durable int64) {
	content, err := os.ReadFile(path)
	if err != nil {
		rt.Fatal(err)
	}
	if int64(len(content)) < durable {
		return // the target has it
	}
	keep := rapid.IntRange(int(durable), len(content)).Draw(rt, "kept")
	content = append(content[:keep], rapid.SampledFrom([]string{"", "\x00\x00", `"torn`}).Draw(rt, "torn")...)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		rt.Fatal(err)
	}
}
