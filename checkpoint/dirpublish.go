package checkpoint

import (
	"context"
	"errors"
	"fmt"
)

// Publish implements Store. The manifest's file is what counts. Until its name is
// durable nothing has happened; then the catalogue follows, which need not be durable, as
// opening makes it agree with the manifests.
func (s *dirStore) Publish(ctx context.Context, m *Manifest) error {
	data, err := EncodeManifest(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return err
	}
	path := s.manifest(m.ID)
	if s.hidden(m.ID) {
		return fmt.Errorf("%s: %w", path, ErrExists)
	}
	if err := s.free(path); err != nil {
		return err
	}
	if err := s.check(m); err != nil {
		return err
	}
	tmp := s.tmp(path)
	if err := s.writeFile(tmp, data); err != nil {
		s.discard(tmp)
		return err
	}
	if err := s.fs.Rename(tmp, path); err != nil {
		s.discard(tmp)
		return ioError("rename", tmp, err)
	}
	if err := s.syncDir(s.path(manifestsDir)); err != nil {
		// It is not known which of the names is on the disk, and another sync that
		// succeeds would not tell.
		return s.doubt(m.ID, err)
	}
	en := newEntry(m, data)
	if err := s.cat.publish(m.ID, en); err != nil {
		return s.undo(m.ID, err)
	}
	s.own(en, 1)
	return nil
}

// undo takes back a manifest whose entry in the catalogue failed. The catalogue
// cannot be used after that, but the outcome is known.
func (s *dirStore) undo(id ID, cause error) error {
	s.breaks(cause)
	err := s.remove(s.manifest(id))
	if err == nil {
		err = s.syncDir(s.path(manifestsDir))
	}
	if err != nil {
		return s.doubt(id, errors.Join(cause, err))
	}
	return cause
}

// doubt hides a manifest that may be there or not after a restart.
func (s *dirStore) doubt(id ID, cause error) error {
	s.doubted[id] = true
	s.breaks(cause)
	s.discard(s.manifest(id)) // most likely it is gone then, but that is not durable
	return &DoubtError{Checkpoint: id, Err: cause}
}
