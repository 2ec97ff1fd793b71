package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/storetest"
)

// countedBlobs counts what is opened.
type countedBlobs struct {
	checkpoint.Store
	opened int
}

func (c *countedBlobs) Open(ctx context.Context, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	c.opened++
	return c.Store.Open(ctx, ref)
}

func TestLocalCopiesArePreferredAndReplaceable(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	primary := &countedBlobs{Store: checkpoint.NewMemory()}
	local, err := checkpoint.NewLocal(primary, dir, checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := checkpoint.BlobName{Epoch: 1, Checkpoint: 2, Subtask: 3}
	data := storetest.Bytes(1, 300_000)
	ref, err := storetest.Write(ctx, local, name, data)
	if err != nil {
		t.Fatal(err)
	}
	read := func(wantOpened int) {
		t.Helper()
		primary.opened = 0
		got, err := storetest.Read(ctx, local, ref)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if primary.opened != wantOpened {
			t.Errorf("the store's blob was opened %d times, want %d", primary.opened, wantOpened)
		}
	}
	read(0)
	files, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 70_000, 200_000, len(whole) - 1} {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		read(1)
	}
	for _, size := range []int{0, 1, 150_000, len(whole) - 1} {
		if err := os.WriteFile(files[0], whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		read(1)
	}
	if err := local.Prune(func(checkpoint.BlobName) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Prune: %v", err)
	}
	read(1)
}
