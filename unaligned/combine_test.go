package unaligned_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/unaligned"
)

// TestSubtasksShareBlobs lets many writers write at once: each finds its own bytes, in few
// blobs.
func TestSubtasksShareBlobs(t *testing.T) {
	store := checkpoint.NewMemory()
	c := unaligned.NewCombiner(store)
	ctx := context.Background()
	var all sync.WaitGroup
	var mu sync.Mutex
	names := map[checkpoint.BlobName]bool{}
	goOn := make(chan struct{})
	for i := range 32 {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(i)}, 100+i)
			name := checkpoint.BlobName{Epoch: 1, Checkpoint: 5, Subtask: uint32(i)}
			ref, at, err := c.Write(ctx, 5, name, int64(len(want)), func(w io.Writer) error {
				<-goOn
				_, err := w.Write(want)
				return err
			})
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
	for c.Waiting(5) < 30 {
		runtime.Gosched()
	}
	close(goOn)
	all.Wait()
	if len(names) != 3 {
		t.Errorf("%d blobs for 32 subtasks, want two, and one of those who waited", len(names))
	}
}

// TestAFailedWriterFailsAllThatShareItsBlob: then nobody relies on what may be damaged,
// and nothing is left in the store.
func TestAFailedWriterFailsAllThatShareItsBlob(t *testing.T) {
	store := checkpoint.NewMemory()
	c := unaligned.NewCombiner(store)
	ctx := context.Background()
	broken := errors.New("broken")
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	write := func(i int, f func(io.Writer) error) error {
		_, _, err := c.Write(ctx, 6, checkpoint.BlobName{Epoch: 1, Checkpoint: 6, Subtask: uint32(i)}, 1, f)
		return err
	}
	var all sync.WaitGroup
	for i := range 2 { // two that lead, and keep the others waiting
		all.Go(func() {
			if err := write(i, func(io.Writer) error { begun <- struct{}{}; <-goOn; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	<-begun
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() {
			errs[i] = write(10+i, func(w io.Writer) error {
				if i == 3 {
					return broken
				}
				_, err := fmt.Fprint(w, i)
				return err
			})
		})
	}
	for c.Waiting(6) < len(errs) {
		runtime.Gosched()
	}
	close(goOn)
	all.Wait()
	for i, err := range errs {
		if !errors.Is(err, broken) {
			t.Errorf("subtask %d: %v, want %v", i, err, broken)
		}
	}
	if n, err := store.Sweep(ctx, func(checkpoint.BlobName) bool { return false }); err != nil || n != 2 {
		t.Errorf("%d blobs are left, want those of the two that led; %v", n, err)
	}
}
