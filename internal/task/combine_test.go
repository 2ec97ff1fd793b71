package task_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/internal/task"
)

// TestSubtasksShareBlobs lets many writers write at once: each finds its own bytes, in few
// blobs.
func TestSubtasksShareBlobs(t *testing.T) {
	store := checkpoint.NewMemory()
	c := task.NewCombiner(store)
	ctx := context.Background()
	var all sync.WaitGroup
	var mu sync.Mutex
	names := map[checkpoint.BlobName]bool{}
	for i := range 32 {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(i)}, 100+i)
			name := checkpoint.BlobName{Epoch: 1, Checkpoint: 5, Subtask: uint32(i)}
			ref, at, err := c.Write(ctx, 5, name, func(w io.Writer) error { _, err := w.Write(want); return err })
			if err != nil {
				t.Error(err)
				return
			}
			r, err := store.Open(ctx, ref)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got[at:at+int64(len(want))], want) {
				t.Errorf("subtask %d: %d bytes at %d of %v, %v", i, len(want), at, ref, err)
			}
			mu.Lock()
			names[ref.Name] = true
			mu.Unlock()
		})
	}
	all.Wait()
	if len(names) > 31 {
		t.Errorf("%d blobs for 32 subtasks", len(names))
	}
}

// TestAFailedWriterFailsAllThatShareItsBlob: then nobody relies on what may be damaged,
// and nothing is left in the store.
func TestAFailedWriterFailsAllThatShareItsBlob(t *testing.T) {
	store := checkpoint.NewMemory()
	c := task.NewCombiner(store)
	ctx := context.Background()
	broken := errors.New("broken")
	errs := make([]error, 8) // as many as share a blob
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			name := checkpoint.BlobName{Epoch: 1, Checkpoint: 6, Subtask: uint32(i)}
			_, _, errs[i] = c.Write(ctx, 6, name, func(w io.Writer) error {
				if i == 3 {
					return broken
				}
				_, err := fmt.Fprint(w, i)
				return err
			})
		})
	}
	all.Wait()
	if !errors.Is(errs[3], broken) {
		t.Errorf("%v, want %v", errs[3], broken)
	}
	if n, err := store.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil || n > 7 {
		t.Errorf("%d blobs are left, %v", n, err)
	}
}
