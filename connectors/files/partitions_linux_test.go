package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/generate"
)

// openBelow counts this process's open files in a folder.
func openBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(name, dir) {
			n++
		}
	}
	return n
}

func TestOpenPartitionsAreBounded(t *testing.T) {
	const most, folders = 3, 20
	for _, ok := range []bool{true, false} {
		dir := quickFolder(t)
		w := mustOpen(t, byName(dir, most), attempt(1, 0, 1))
		for i := range 5 * folders {
			feed(t, w, fmt.Sprint("p=", i*7%folders))
			if n := openBelow(t, dir); n > most+1 { // and the lock
				t.Fatalf("%d files are open", n)
			}
		}
		b := mustPrepare(t, w)
		if n := openBelow(t, dir); n != 1 {
			t.Errorf("%d files are open after the checkpoint, want the lock", n)
		}
		if ok {
			if err := w.Commit(b); err != nil {
				t.Fatal(err)
			}
		} else {
			feed(t, w, "void", "also", "these", "are")
			if err := w.Abort(b); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, w, ok)
		if n := openBelow(t, dir); n != 0 {
			t.Errorf("%d files are open in the end", n)
		}
		if n := len(readFolder(t, dir)); ok && n != 5*folders || !ok && n != 0 {
			t.Errorf("%d files, closed with %v", n, ok)
		}
	}
}

const (
	killedFolder      = "FILES_TEST_KILLED_JOB" // set in a process whose job is to be killed
	killedParallelism = "FILES_TEST_PARALLELISM"
	killedRows        = 10_000
)

// killedJob writes the numbers below killedRows to partitions, of which there are more than
// a subtask has open. It is slow, so that there is much to kill.
func killedJob(dir string, parallelism int) *overtake.Job {
	job := overtake.NewJob("killed", overtake.Options{
		Parallelism: parallelism, MaxParallelism: 12,
		Checkpoints: overtake.Checkpoints{Dir: filepath.Join(dir, "checkpoints"), Interval: 5 * time.Millisecond, Mode: overtake.Unaligned},
	})
	in := overtake.From(job, generate.Source(func(n uint64) string { return strconv.FormatUint(n, 10) },
		generate.Options{Count: killedRows}), overtake.WithUID("numbers"))
	slow := overtake.Map(in.Rebalance(), func(row string) string {
		if strings.HasSuffix(row, "0") {
			time.Sleep(time.Millisecond)
		}
		return row
	})
	sink := files.Partitioned(filepath.Join(dir, "out"), files.TSV[string], files.Partitions[string]{Folder: lastDigit, MaxOpen: 4})
	overtake.To(slow, sink, overtake.WithUID("out"))
	return job
}

// A job that is killed at any moment, and begun again with other numbers of subtasks, has
// written every row once, and nothing else is left.
func TestAKilledJobWritesItsPartitionsOnce(t *testing.T) {
	if dir := os.Getenv(killedFolder); dir != "" {
		p, err := strconv.Atoi(os.Getenv(killedParallelism))
		if err = errors.Join(err, killedJob(dir, p).Run(context.Background())); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := quickFolder(t)
	out := filepath.Join(dir, "out")
	kills := 0
	for {
		p := rand.IntN(4) + 1
		if ended := runOnce(t, dir, p, kills < 5); ended {
			break
		}
		kills++
		t.Logf("killed with %d subtasks and %d parts", p, parts(out))
	}
	seen := map[string]bool{}
	for name, content := range readFolder(t, out) {
		if !strings.HasPrefix(filepath.Base(name), "part-") || strings.Count(name, "/") != 2 {
			t.Errorf("%s is left", name)
			continue
		}
		for row := range strings.Lines(string(content)) {
			row = strings.TrimSuffix(row, "\n")
			if seen[row] || string(lastDigit(nil, row, time.Time{})) != filepath.Dir(name) {
				t.Fatalf("row %q of %s, seen before: %v", row, name, seen[row])
			}
			seen[row] = true
		}
	}
	if len(seen) != killedRows || kills == 0 {
		t.Errorf("%d rows after %d kills, want %d after some", len(seen), kills, killedRows)
	}
}

// runOnce runs the job in a process of its own, and kills it when it has published some
// more. It reports whether the job came to its end.
func runOnce(t *testing.T, dir string, parallelism int, kill bool) (ended bool) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestAKilledJobWritesItsPartitionsOnce$")
	child.Env = append(os.Environ(), killedFolder+"="+dir, fmt.Sprint(killedParallelism, "=", parallelism))
	var text strings.Builder
	child.Stdout, child.Stderr = &text, &text
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- child.Wait() }()
	before, more := parts(filepath.Join(dir, "out")), rand.IntN(20)+1
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for killed := false; ; {
		select {
		case err := <-done:
			if err != nil && !killed {
				t.Fatalf("%v\n%s", err, text.String())
			}
			return err == nil
		case <-look.C:
			if kill && !killed && parts(filepath.Join(dir, "out")) >= before+more {
				killed = child.Process.Kill() == nil
			}
		}
	}
}

// parts counts what can be seen in a folder that is being written.
func parts(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), "part-") {
			n++
		}
		return nil
	})
	return n
}
