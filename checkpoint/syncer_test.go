package checkpoint_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/checkpoint"
)

// Files and directories are synced by several at once, each with a request of its own, which
// is used again.
func TestSyncsAtOnce(t *testing.T) {
	fs, contexts := checkpoint.PrivateFS()
	dir := t.TempDir()
	const writers, files = 4, 5
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for j := range files {
				path := filepath.Join(dir, strconv.Itoa(i)+"-"+strconv.Itoa(j))
				if err := syncedFile(fs, path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	d, err := fs.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		t.Error(err)
	}
	n := contexts()
	if n > writers || runtime.GOOS == "linux" && n == 0 {
		t.Errorf("%d contexts for %d writers", n, writers)
	}
}

func syncedFile(fs vfs.FS, path string) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("state"))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err == nil && string(data) != "state" {
		err = errors.New("the file has " + string(data))
	}
	return err
}

func TestSyncOfAClosedFile(t *testing.T) {
	fs, _ := checkpoint.PrivateFS()
	f, err := fs.Create(filepath.Join(t.TempDir(), "file"), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("syncing a closed file: %v", err)
	}
}
