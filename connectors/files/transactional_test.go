package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// sinks are those of a cluster's tests: one folder, and partitions, of which a subtask has
// fewer files open than rows go to.
func sinks(dir string, format func(path string) operators.Sink[string]) map[string]operators.Sink[string] {
	return map[string]operators.Sink[string]{
		"one folder": files.Transactional(dir, format),
		"partitions": files.Partitioned(dir, format, files.Partitions[string]{Folder: lastDigit, MaxOpen: 2}),
	}
}

// lastDigit is a folder in a folder for each last digit of a number.
func lastDigit(dst []byte, v string, _ time.Time) []byte {
	digit := v[len(v)-1]
	return files.AppendColumn(files.AppendColumn(dst, "odd", strconv.FormatBool(digit%2 > 0)), "last", []byte{digit})
}

// The engine crashes before every step of a run, and again before later steps of the
// runs that follow, with 3, 2 and 5 subtasks.
func TestCrashesAtEveryStepLoseAndRepeatNothing(t *testing.T) {
	const rows = 12
	dir := quickFolder(t)
	run := func(c *cluster, p int) bool {
		return c.survives(func() {
			c.start(p)
			for c.next < rows {
				for range 4 {
					c.write(c.next * 7)
				}
				c.checkpoint()
				c.seen()
			}
			c.close(true)
		})
	}
	for name, sink := range sinks(dir, files.TSV[string]) {
		crashes := 0
		for first, all := 1, false; !all; first++ {
			for second, rest := 1, false; !rest && !all; second += 3 {
				emptyFolder(t, dir)
				c := &cluster{fatal: t, dir: dir, sink: sink, crashAt: first}
				if all = run(c, 3); !all {
					crashes++
					c.kill(nil)
					c.steps, c.crashAt = 0, second
					if rest = run(c, 2); !rest {
						crashes++
						c.kill(func([]byte) []byte { return nil })
						c.crashAt = 0
						run(c, 5)
					}
				}
				c.ended(rows)
			}
		}
		if crashes < 300 {
			t.Errorf("%s: only %d crashes", name, crashes)
		}
	}
}

// Random runs: checkpoints that complete or are declined, crashes, other numbers of
// subtasks, and transactions that are aborted.
func TestTransactionsAreExactInRandomRuns(t *testing.T) {
	dir := quickFolder(t)
	for name, sink := range sinks(dir, files.TSV[string]) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(rt *rapid.T) { randomRun(rt, dir, sink) }) })
	}
}

func randomRun(rt *rapid.T, dir string, sink operators.Sink[string]) {
	emptyFolder(rt, dir)
	c := &cluster{fatal: rt, dir: dir, sink: sink}
	start := func() { c.start(rapid.IntRange(1, 5).Draw(rt, "parallelism")) }
	tear := func(content []byte) []byte { return content[:rapid.IntRange(0, len(content)).Draw(rt, "kept")] }
	start()
	for range rapid.IntRange(0, 40).Draw(rt, "steps") {
		switch rapid.SampledFrom([]string{"write", "write", "write", "checkpoint", "prepare", "fail", "kill"}).Draw(rt, "step") {
		case "write":
			c.write(rapid.IntRange(0, 4).Draw(rt, "subtask"))
		case "checkpoint":
			c.checkpoint()
			if rapid.Bool().Draw(rt, "again") {
				c.commit()
			}
		case "prepare":
			c.prepare()
		case "fail":
			if rapid.Bool().Draw(rt, "abort") {
				for _, p := range c.waiting {
					w := c.writers[p.subtask]
					c.must(errors.Join(w.Abort(p.what), w.Abort(p.what)))
				}
			}
			c.close(false)
			start()
		case "kill":
			c.kill(tear)
			start()
		}
		c.seen()
	}
	c.checkpoint()
	rows := c.next
	c.close(true)
	c.ended(rows)
}

func openTransaction(t testing.TB, dir string, epoch uint64, i, p int) operators.TwoPhaseWriter[string] {
	t.Helper()
	return mustOpen(t, files.Transactional(dir, files.CSV[string]), attempt(epoch, i, p))
}

func openTransactionTSV(t testing.TB, dir string, epoch uint64) operators.TwoPhaseWriter[string] {
	t.Helper()
	return mustOpen(t, files.Transactional(dir, files.TSV[string]), attempt(epoch, 0, 1))
}

func mustOpen(t testing.TB, sink operators.Sink[string], ctx *operators.Context) operators.TwoPhaseWriter[string] {
	t.Helper()
	w, err := sink.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return w.(operators.TwoPhaseWriter[string])
}

func mustPrepare(t testing.TB, w operators.TwoPhaseWriter[string]) []byte {
	t.Helper()
	b, err := w.Prepare(nil)
	if err != nil || len(b) == 0 {
		t.Fatalf("prepared %q, %v", b, err)
	}
	return b
}

// wants checks that an error is the wanted one and says what it should.
func wants(t testing.TB, err, want error, says string) {
	t.Helper()
	if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want %v with %q", err, want, says)
	}
}

func TestNamesOfParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	w := openTransaction(t, dir, 7, 3, 4)
	if b, err := w.Prepare(nil); err != nil || len(b) != 0 {
		t.Fatalf("prepared %q of nothing, %v", b, err)
	}
	feed(t, w, "a,b")
	mustHold(t, dir, ".lock-3", ".pending-7-3-0.csv")
	first := mustPrepare(t, w)
	feed(t, w, "c")
	second := mustPrepare(t, w)
	mustHold(t, dir, ".lock-3", ".pending-7-3-0.csv", ".pending-7-3-1.csv")
	mustClose(t, w, true)
	// The engine may commit when the subtask is gone.
	if err := errors.Join(w.Commit(second), w.Commit(first), w.Commit(second)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, "part-00003-7-0.csv", "part-00003-7-1.csv")
	mustRead(t, filepath.Join(dir, "part-00003-7-0.csv"), "value\n\"a,b\"\n")
	mustRead(t, filepath.Join(dir, "part-00003-7-1.csv"), "value\nc\n")
	wants(t, w.Abort(first), nil, "part-00003-7-0.csv is published")
}

func TestPreparedFilesAreCheckedAfterACrash(t *testing.T) {
	dir := t.TempDir()
	pending, part := filepath.Join(dir, ".pending-1-0-0.csv"), filepath.Join(dir, "part-00000-1-0.csv")
	w := openTransaction(t, dir, 1, 0, 1)
	feed(t, w, "row")
	b := mustPrepare(t, w)
	mustClose(t, w, false)
	w = openTransaction(t, dir, 2, 0, 1)

	for content, want := range map[string]error{"value\nro": files.ErrShort, "value\nrow\n\n": files.ErrForeign, "value\ncow\n": files.ErrForeign} {
		writeFile(t, pending, content)
		wants(t, w.Commit(b), want, pending)
		mustHold(t, dir, ".lock-0", ".pending-1-0-0.csv")
		if err := os.Rename(pending, part); err != nil {
			t.Fatal(err)
		}
		wants(t, w.Commit(b), want, part)
		if err := os.Remove(part); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, w.Commit(b), files.ErrLost, pending)
	wants(t, w.Commit(b), files.ErrLost, part)
	writeFile(t, pending, "value\nrow\n")
	writeFile(t, part, "another")
	wants(t, w.Commit(b), files.ErrLeft, part)
	mustRead(t, part, "another")
	for i := range b {
		wants(t, w.Commit(b[:i]), nil, "damaged")
		wants(t, w.Abort(b[:i]), nil, "damaged")
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Commit(b), w.Commit(b), w.Recovered()); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w, true)
	mustHold(t, dir, "part-00000-1-0.csv")
}

func TestRecoveredRemovesWhatIsVoidOfItsSubtasks(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		w := openTransaction(t, dir, 3, i, 5)
		feed(t, w, "row")
		mustPrepare(t, w)
		mustClose(t, w, false)
	}
	writeFile(t, filepath.Join(dir, ".pending-notes"), "mine")
	writeFile(t, filepath.Join(dir, ".pending-01-0-0"), "mine")
	w := openTransaction(t, dir, 4, 1, 2)
	feed(t, w, "new")
	if err := w.Recovered(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, dir, ".lock-1", ".pending-01-0-0", ".pending-3-0-0.csv", ".pending-3-2-0.csv", ".pending-3-4-0.csv", ".pending-4-1-0.csv", ".pending-notes")
	mustClose(t, w, false)
	mustHold(t, dir, ".pending-01-0-0", ".pending-3-0-0.csv", ".pending-3-2-0.csv", ".pending-3-4-0.csv", ".pending-notes")
}

func TestAFolderHasOneJob(t *testing.T) {
	dir := t.TempDir()
	sink := files.Transactional(dir, files.CSV[string])
	refused := func(want error, says string, epoch uint64, i, p int) {
		t.Helper()
		_, err := sink.Open(attempt(epoch, i, p))
		wants(t, err, want, says)
	}
	w := openTransaction(t, dir, 2, 3, 4)
	feed(t, w, "row")
	b := mustPrepare(t, w)
	refused(files.ErrInUse, ".lock-3", 2, 3, 4)
	refused(files.ErrInUse, ".lock-3", 3, 1, 2) // which comes after subtask 3
	mustClose(t, w, false)
	mustHold(t, dir, ".pending-2-3-0.csv")

	refused(files.ErrLeft, ".pending-2-3-0.csv", 1, 1, 2) // an attempt that comes too late
	refused(files.ErrLeft, ".pending-2-3-0.csv", 0, 0, 1)
	if err := w.Commit(b); err != nil {
		t.Fatal(err)
	}
	for epoch := range uint64(3) {
		refused(files.ErrLeft, "part-00003-2-0.csv", epoch, 0, 3)
	}
	// A new job gets there by being tried again.
	w = openTransaction(t, dir, 3, 0, 3)
	feed(t, w, "row")
	_, err := w.Prepare(nil)
	wants(t, err, files.ErrLeft, "part-00003-2-0.csv")
	mustClose(t, w, false)
	mustHold(t, dir, "part-00003-2-0.csv")
}

// A run that was killed and never had a checkpoint is followed by a new one, whose
// epochs begin again.
func TestADeadRunDoesNotHinderTheNext(t *testing.T) {
	dir := t.TempDir()
	for epoch := range uint64(2) {
		for _, name := range []string{".lock-0", ".lock-2", fmt.Sprintf(".pending-%d-0-0.csv", epoch), fmt.Sprintf(".pending-%d-2-1.csv", epoch)} {
			writeFile(t, filepath.Join(dir, name), "")
		}
		w := openTransaction(t, dir, epoch, 0, 2)
		mustHold(t, dir, ".lock-0")
		feed(t, w, "row")
		mustHold(t, dir, ".lock-0", fmt.Sprintf(".pending-%d-0-0.csv", epoch))
		mustClose(t, w, false)
		mustHold(t, dir)
	}
}

func TestWithoutCheckpointsTheEndPublishes(t *testing.T) {
	dir := t.TempDir()
	for _, rows := range [][]string{{"a"}, {"b", "c"}} { // a second run replaces the first
		w := openTransaction(t, dir, 0, 0, 2)
		feed(t, w, rows...)
		mustClose(t, openTransaction(t, dir, 0, 1, 2), true) // it has no rows
		mustClose(t, w, true)
		mustHold(t, dir, "part-00000-0-0.csv")
		mustRead(t, filepath.Join(dir, "part-00000-0-0.csv"), "value\n"+strings.Join(rows, "\n")+"\n")
	}
	extra := writeFile(t, filepath.Join(dir, "part-00000-0-1.csv"), "")
	_, err := files.Transactional(dir, files.CSV[string]).Open(attempt(0, 0, 2))
	wants(t, err, files.ErrLeft, "part-00000-0-1.csv")
	if err := os.Remove(extra); err != nil {
		t.Fatal(err)
	}
	w := openTransaction(t, dir, 0, 0, 2)
	feed(t, w, "void")
	mustPrepare(t, w)
	feed(t, w, "void")
	mustClose(t, w, false)
	mustHold(t, dir, "part-00000-0-0.csv")

	w = openTransaction(t, dir, 0, 1, 2)
	feed(t, w, "row")
	mustClose(t, w, true)
	_, err = files.Transactional(dir, files.CSV[string]).Open(attempt(0, 0, 1))
	wants(t, err, files.ErrLeft, "part-00001-0-0.csv")
	_, err = files.Transactional(dir, files.CSV[string]).Open(attempt(1, 0, 2))
	wants(t, err, files.ErrLeft, "part-00000-0-0.csv")
}

func TestRowsThatNoCheckpointCoversAreAnError(t *testing.T) {
	dir := t.TempDir()
	w := openTransaction(t, dir, 1, 0, 1)
	feed(t, w, "a")
	mustPrepare(t, w)
	feed(t, w, "b")
	wants(t, w.Close(true), nil, "must end with one")
	mustHold(t, dir, ".pending-1-0-0.csv")
}

func TestTransactionalNeedsAFormatOfThisPackage(t *testing.T) {
	sink := files.Transactional(t.TempDir(), func(string) operators.Sink[string] { return files.Print[string](os.Stderr) })
	_, err := sink.Open(attempt(0, 0, 1))
	wants(t, err, nil, "none of Rows, TSV, CSV and JSONLines")
	dir := writeFile(t, filepath.Join(t.TempDir(), "file"), "")
	_, err = files.Transactional(dir, files.TSV[string]).Open(attempt(0, 0, 1))
	wants(t, err, nil, "is not a folder")
}
