package files_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/operators"
)

func TestAFullDiskLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs the right to mount a small disk: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	for name, size := range map[string]int{"while writing": 1 << 20, "at the end": 100 << 10} {
		path := filepath.Join(dir, "out")
		w, err := files.TSV[string](path).Open(&operators.Context{Parallelism: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(strings.Repeat("x", size))
		if closing := w.Close(err == nil); err == nil {
			err = closing
		}
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: error %v", name, err)
		}
		mustHold(t, dir)
	}
}
