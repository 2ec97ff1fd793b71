package checkpoint_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) (checkpoint.Store, checkpoint.Blobs) {
		s := checkpoint.NewMemory()
		return s, s
	})
}

func TestDir(t *testing.T) {
	for name, o := range map[string]checkpoint.Options{
		"disk":         {},
		"compressed":   {Compress: true, BlockSize: 1000, NoSync: true},
		"small blocks": {FS: vfs.NewMem(), BlockSize: checkpoint.MinBlockSize},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) (checkpoint.Store, checkpoint.Blobs) {
				dir := t.TempDir() + "/a/b"
				return mustOpen(t, dir, o), mustBlobs(t, dir, o)
			})
		})
	}
}

func mustOpen(t testing.TB, dir string, o checkpoint.Options) checkpoint.Store {
	t.Helper()
	s, err := checkpoint.OpenDir(dir, o)
	if err != nil {
		t.Fatalf("OpenDir: %v", err)
	}
	return s
}

func mustBlobs(t testing.TB, dir string, o checkpoint.Options) checkpoint.Blobs {
	t.Helper()
	b, err := checkpoint.OpenBlobs(dir, o)
	if err != nil {
		t.Fatalf("OpenBlobs: %v", err)
	}
	return b
}
