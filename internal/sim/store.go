package sim

import (
	"context"
	"errors"

	"github.com/overtake-stream/overtake/checkpoint"
)

var errFault = errors.New("injected fault")

// store is a store with faults. The subtasks use it as Blobs, the driver its Publish.
type store struct {
	checkpoint.Store
	w *world
}

// fails draws whether an operation fails, and whether it does so after it was done. A
// writer stops here first.
func (s *store) fails() (before, after bool) {
	w := s.w
	if w.writing != nil {
		w.writing.yield(struct{}{})
	}
	if w.faults == 0 || w.rand.IntN(w.plan.faultIn) > 0 {
		return false, false
	}
	w.faults--
	w.troubled = true
	return true, w.rand.IntN(2) == 0
}

// Create implements checkpoint.Blobs.
func (s *store) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	if fail, _ := s.fails(); fail {
		return nil, errFault
	}
	b, err := s.Store.Create(ctx, name)
	return &blob{b, s}, err
}

// Publish implements checkpoint.Store. It is in doubt whether what fails is there.
func (s *store) Publish(ctx context.Context, m *checkpoint.Manifest) error {
	fail, done := s.fails()
	switch {
	case !fail:
		return s.Store.Publish(ctx, m)
	case done:
		if err := s.Store.Publish(ctx, m); err != nil {
			return err
		}
		return &checkpoint.DoubtError{Checkpoint: m.ID, Err: errFault}
	}
	return errFault
}

// blob is a blob being written.
type blob struct {
	checkpoint.BlobWriter
	s *store
}

// Commit implements checkpoint.BlobWriter. What fails may be there.
func (b *blob) Commit() (checkpoint.BlobRef, error) {
	fail, done := b.s.fails()
	if fail && !done {
		return checkpoint.BlobRef{}, errFault
	}
	ref, err := b.BlobWriter.Commit()
	if fail {
		return checkpoint.BlobRef{}, errFault
	}
	return ref, err
}
