package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Drop implements Store. The catalogue comes first: if it says that a checkpoint is being
// dropped, opening the store goes on with it; if a crash has undone that, the checkpoint
// is there again as a whole, or its manifest is gone and a sweep finds its blobs. Then
// the manifest goes, durably, so that none can be found whose blobs are gone. Then the
// blobs.
func (s *dirStore) Drop(ctx context.Context, id ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return err
	}
	en, again := s.dropping[id]
	if !again {
		var err error
		if en, err = s.forget(id); err != nil {
			return err
		}
	}
	if err := s.remove(s.manifest(id)); err != nil {
		return err
	}
	if err := s.syncDir(s.path(manifestsDir)); err != nil {
		s.breaks(err)
		return err
	}
	delete(s.unknown, id)
	var err error
	for _, ref := range en.blobs {
		_, failed := s.removeOrphan(ref.Name, s.blob(ref.Name))
		err = errors.Join(err, failed)
	}
	if failed := s.cat.forget(id); failed != nil {
		s.breaks(failed)
		return errors.Join(err, failed)
	}
	delete(s.dropping, id)
	return err
}

// forget moves a checkpoint from those that are there to those being dropped.
func (s *dirStore) forget(id ID) (entry, error) {
	en, found, err := s.cat.entry(id)
	if err != nil {
		s.breaks(err)
		return entry{}, err
	}
	if !found {
		there, err := s.exists(s.manifest(id))
		if err != nil {
			return entry{}, err
		}
		if !there {
			return entry{}, fmt.Errorf("%s: %w", s.manifest(id), ErrNotFound)
		}
	}
	if err := s.cat.drop(id, en); err != nil {
		s.breaks(err)
		return entry{}, err
	}
	s.own(en, -1)
	s.dropping[id] = en
	return en, nil
}

// removeOrphan removes a blob's file if no checkpoint can refer to it.
func (s *dirStore) removeOrphan(name BlobName, path string) (removed bool, err error) {
	for id := range s.unknown {
		if name.Checkpoint <= id { // a damaged checkpoint may be mended one day
			return false, nil
		}
	}
	if s.owners[name] > 0 {
		return false, nil
	}
	err = s.remove(path)
	return err == nil, err
}

// Sweep implements Store. Blobs that a damaged manifest may refer to stay, until it is
// dropped.
func (s *dirStore) Sweep(ctx context.Context, keep func(BlobName) bool) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return 0, err
	}
	dir := s.path(blobsDir)
	files, err := s.fs.List(dir)
	if err != nil {
		return 0, ioError("list", dir, err)
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		name, ok := parseBlobFile(file)
		if !ok || keep(name) {
			continue
		}
		path := s.path(blobsDir, file)
		var gone bool
		if strings.HasSuffix(file, tmpSuffix) {
			err = s.remove(path)
			gone = err == nil
		} else {
			gone, err = s.removeOrphan(name, path)
		}
		if err != nil {
			return removed, err
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}
