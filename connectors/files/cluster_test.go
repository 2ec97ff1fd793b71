package files_test

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/operators"
)

// fatal is what testing.T and rapid.T have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// prepared is what a subtask had prepared at a checkpoint.
type prepared struct {
	subtask int
	what    []byte
}

// cluster runs the subtasks of a transactional sink as an engine does, with rows
// 0, 1 … and checkpoints. It can crash between any two steps.
type cluster struct {
	fatal
	dir  string
	sink operators.Sink[string]

	epoch   uint64
	writers []operators.TwoPhaseWriter[string]
	next    int        // row
	waiting []prepared // and not in a complete checkpoint

	// the last complete checkpoint
	saved   bool
	covered int // rows
	commits []prepared

	steps, crashAt int              // crash before this step
	tolerated      func(error) bool // crash after these errors; nil: none
}

type crash struct{}

func (c *cluster) step() {
	if c.steps++; c.steps == c.crashAt {
		panic(crash{})
	}
}

// survives runs f, and reports whether it did without a crash.
func (c *cluster) survives(f func()) (survived bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
		}
	}()
	f()
	return true
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil && c.tolerated != nil && c.tolerated(err) {
		panic(crash{})
	}
	if err != nil {
		c.Fatalf("step %d: %v", c.steps, err)
	}
}

// start begins an attempt of p subtasks from the last checkpoint.
func (c *cluster) start(p int) {
	c.epoch++
	c.writers, c.next, c.waiting = nil, c.covered, nil
	for i := range p {
		c.step()
		w, err := c.sink.Open(attempt(c.epoch, i, p))
		c.must(err)
		c.writers = append(c.writers, w.(operators.TwoPhaseWriter[string]))
	}
	if !c.saved {
		return
	}
	c.commit()
	for _, w := range c.writers {
		c.step()
		c.must(w.Recovered())
	}
}

func (c *cluster) commit() {
	for _, p := range c.commits {
		c.step()
		c.must(c.writers[p.subtask%len(c.writers)].Commit(p.what))
	}
}

func (c *cluster) write(subtask int) {
	c.step()
	c.must(c.writers[subtask%len(c.writers)].Write(fmt.Sprint(c.next)))
	c.next++
}

// prepare ends the transactions of all subtasks; what they wrote waits for the next
// complete checkpoint.
func (c *cluster) prepare() {
	for i, w := range c.writers {
		c.step()
		b, err := w.Prepare([]byte("before"))
		c.must(err)
		if b = b[len("before"):]; len(b) > 0 {
			c.waiting = append(c.waiting, prepared{i, b})
		}
	}
	c.step()
}

func (c *cluster) checkpoint() {
	c.prepare()
	c.saved, c.covered, c.commits, c.waiting = true, c.next, c.waiting, nil
	c.commit()
}

func (c *cluster) close(ok bool) {
	for _, w := range c.writers {
		c.step()
		c.must(w.Close(ok))
	}
	c.step()
	c.writers = nil
}

// kill ends the attempt as a killed process does: its files stay as they are, and its
// locks are gone. change may change what was written to a file but never synced: those
// are the files that closing removes.
func (c *cluster) kill(change func(content []byte) []byte) {
	before := readFolder(c, c.dir)
	for _, w := range c.writers {
		_ = w.Close(false)
	}
	after := readFolder(c, c.dir)
	for name := range after {
		c.must(os.Remove(filepath.Join(c.dir, name)))
	}
	for name, content := range before {
		if _, kept := after[name]; !kept && strings.HasPrefix(name, ".pending") && change != nil {
			content = change(content)
		}
		c.must(os.WriteFile(filepath.Join(c.dir, name), content, 0o600))
	}
	c.writers = nil
}

// readFolder returns the content of all files in a folder and those in it, by their paths
// below it.
func readFolder(c fatal, dir string) map[string][]byte {
	c.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		all[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		c.Fatalf("%v", err)
	}
	return all
}

// seen checks that rows that can be seen are seen once, and only those of complete
// checkpoints, in whole files, and returns how many there are.
func (c *cluster) seen() int {
	c.Helper()
	seen := map[string]bool{}
	for name, content := range readFolder(c, c.dir) {
		if strings.HasPrefix(name, ".") {
			continue
		}
		rows := strings.SplitAfter(string(content), "\n")
		if rows[len(rows)-1] != "" || len(content) == 0 {
			c.Fatalf("%s is not whole: %q", name, content)
		}
		for _, row := range rows[:len(rows)-1] {
			n, err := strconv.Atoi(strings.TrimSuffix(row, "\n"))
			if err != nil || n >= c.covered || seen[row] {
				c.Fatalf("%s has row %q: seen before: %v; %d rows are covered", name, row, seen[row], c.covered)
			}
			seen[row] = true
		}
	}
	return len(seen)
}

// ended checks that all rows are seen and nothing else is left.
func (c *cluster) ended(rows int) {
	c.Helper()
	if n := c.seen(); n != rows {
		c.Fatalf("%d of %d rows", n, rows)
	}
	for name := range readFolder(c, c.dir) {
		if strings.HasPrefix(name, ".") {
			c.Fatalf("%s is left", name)
		}
	}
}

// onlyPreparedIsLeft checks that of an attempt that has failed and closed there are only
// the files that it had prepared.
func (c *cluster) onlyPreparedIsLeft() {
	c.Helper()
	left := map[string]bool{}
	for name := range readFolder(c, c.dir) {
		left[name] = strings.HasPrefix(name, ".")
	}
	for _, p := range append(c.commits, c.waiting...) {
		b := p.what[1:]
		number := func(to *uint64) {
			v, n := binary.Uvarint(b)
			*to, b = v, b[n:]
		}
		var count uint64
		if p.what[0] == 2 {
			number(&count)
		}
		for len(b) > 0 {
			var subtask, epoch, seq, length, folder uint64 // in this order
			for _, to := range []*uint64{&subtask, &epoch, &seq, &length} {
				number(to)
			}
			b = b[4:] // the checksum
			part := fmt.Sprintf("part-%05d-%d-%d", subtask, epoch, seq)
			if p.what[0] == 2 {
				number(&folder)
				part, b = filepath.Join(string(b[:folder]), part), b[folder:]
			}
			pending := fmt.Sprintf(".pending-%d-%d-%d", epoch, subtask, seq)
			if _, published := left[part]; left[pending] == published {
				c.Fatalf("%s: %v, published: %v", pending, left[pending], published)
			}
			left[pending] = false
		}
	}
	for name, unknown := range left {
		if unknown {
			c.Fatalf("%s is left", name)
		}
	}
}

// quickFolder is a folder in memory, where there is one: there, syncing is free.
func quickFolder(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "files-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func emptyFolder(c fatal, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.Fatalf("%v", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			c.Fatalf("%v", err)
		}
	}
}
