package files_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

// smallDisk mounts a disk and returns how to change its limits, such as size=64k.
func smallDisk(t *testing.T) (dir string, limit func(t *testing.T, limits string)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, enough); err != nil {
		t.Skipf("needs the right to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func(t *testing.T, limits string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, limits); err != nil {
			t.Fatal(err)
		}
	}
}

// wide is a format of rows of 5000 bytes.
func wide(path string) operators.Sink[string] {
	return files.Rows(path, func(dst []byte, v string) []byte { return fmt.Appendf(dst, "%05000s", v) })
}

// diskLimits are disks that are full at one step or another of a run of 60 kB.
func diskLimits() (all []string) {
	for pages := 1; pages < 24; pages++ {
		all = append(all, fmt.Sprintf("size=%dk,nr_inodes=1000", 4*pages))
	}
	for inodes := 1; inodes < 24; inodes++ {
		all = append(all, fmt.Sprintf("size=1m,nr_inodes=%d", inodes))
	}
	return all
}

const enough = "size=1m,nr_inodes=1000"

func TestTransactionsGoOnAfterAFullDisk(t *testing.T) {
	dir, limit := smallDisk(t)
	for name, sink := range sinks(dir, wide) {
		t.Run(name, func(t *testing.T) { goOnAfterAFullDisk(t, dir, limit, sink) })
	}
}

func goOnAfterAFullDisk(t *testing.T, dir string, limit func(t *testing.T, limits string), sink operators.Sink[string]) {
	const rows = 12
	failures := 0
	for _, limits := range diskLimits() {
		t.Run(limits, func(t *testing.T) {
			emptyFolder(t, dir)
			limit(t, limits)
			c := &cluster{fatal: t, dir: dir, sink: sink}
			c.tolerated = func(err error) bool {
				return errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), dir)
			}
			run := func() {
				c.start(3)
				for c.next < rows {
					for range 4 {
						c.write(c.next)
					}
					c.checkpoint()
					c.seen()
				}
				c.close(true)
			}
			if c.survives(run) {
				c.ended(rows)
				return
			}
			failures++
			for _, w := range c.writers {
				c.must(w.Close(false))
			}
			c.onlyPreparedIsLeft()
			c.seen()
			limit(t, enough)
			c.tolerated = nil
			run()
			c.ended(rows)
		})
	}
	if failures < 10 {
		t.Errorf("only %d disks were full", failures)
	}
}

// A writer that has lost rows says so until it is closed, also when there is room again.
func TestAWriterThatHasLostRowsIsOfNoMoreUse(t *testing.T) {
	dir, limit := smallDisk(t)
	limit(t, "size=64k")
	w := openTransaction(t, dir, 1, 0, 1)
	feed(t, w, strings.Repeat("x", 100<<10))
	_, err := w.Prepare(nil)
	wants(t, err, syscall.ENOSPC, dir)
	limit(t, enough)
	wants(t, w.Write("row"), syscall.ENOSPC, dir)
	_, err = w.Prepare(nil)
	wants(t, err, syscall.ENOSPC, dir)
	wants(t, w.Close(true), syscall.ENOSPC, dir)
	mustHold(t, dir)
}

func TestSingleFilesGoOnAfterAFullDisk(t *testing.T) {
	const rows = 12
	dir, limit := smallDisk(t)
	for _, limits := range diskLimits() {
		t.Run(limits, func(t *testing.T) {
			emptyFolder(t, dir)
			limit(t, limits)
			path := filepath.Join(dir, "out")
			var at []byte
			covered := 0
			run := func(epoch uint64) (err error) {
				w, err := resume(wide(path), epoch, at)
				if err != nil {
					return err
				}
				for i := covered; i < rows; i++ {
					if err := w.Write(fmt.Sprint(i)); err != nil {
						return errors.Join(err, w.Close(false))
					}
					if i%4 == 3 {
						b, err := w.Position(nil)
						if err != nil {
							_, again := w.Position(nil)
							if again == nil {
								t.Error("a position after rows were lost")
							}
							return errors.Join(err, w.Close(false))
						}
						at, covered = b, i+1
					}
				}
				return w.Close(true)
			}
			if err := run(1); err != nil {
				wants(t, err, syscall.ENOSPC, path)
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Fatalf("the file can be seen: %v", err)
				}
				limit(t, enough)
				if err := run(2); err != nil {
					t.Fatal(err)
				}
			}
			mustHold(t, dir, "out")
			var want strings.Builder
			for i := range rows {
				fmt.Fprintf(&want, "%05000s\n", fmt.Sprint(i))
			}
			mustRead(t, path, want.String())
		})
	}
}
