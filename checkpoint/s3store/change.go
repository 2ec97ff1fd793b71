package s3store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/overtake-stream/overtake/checkpoint"
)

// check compares a manifest's references with the objects that are there, by one
// listing for each checkpoint that wrote some of them.
func (s *store) check(ctx context.Context, m *checkpoint.Manifest) error {
	type group struct {
		epoch uint64
		id    checkpoint.ID
	}
	listings := map[group]map[string]int64{}
	for name, ref := range m.BlobSet() {
		g := group{name.Epoch, name.Checkpoint}
		prefix := fmt.Sprintf("%se%d-c%d-", blobsPrefix, name.Epoch, name.Checkpoint)
		if listings[g] == nil {
			objects, err := s.list(ctx, prefix)
			if err != nil {
				return err
			}
			listings[g] = objects
		}
		key := blobKey(name)
		missing := &checkpoint.MissingError{Checkpoint: m.ID, Blob: name, File: s.name(key), Want: ref.Stored, Got: -1}
		size, ok := listings[g][strings.TrimPrefix(key, prefix)]
		if !ok {
			return missing
		}
		if missing.Got = size; size != ref.Stored {
			return missing
		}
	}
	return nil
}

// Publish implements checkpoint.Store. The conditional put of the manifest is the commit.
func (s *store) Publish(ctx context.Context, m *checkpoint.Manifest) error {
	data, err := checkpoint.EncodeManifest(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return err
	}
	if err := s.check(ctx, m); err != nil {
		return err
	}
	lost, err := s.put(ctx, manifestKey(m.ID), data, s.nextWrite())
	switch {
	case err == nil:
		s.known[m.ID] = m.BlobSet()
	case lost:
		s.doubted[m.ID] = true
		return &checkpoint.DoubtError{Checkpoint: m.ID, Err: err}
	}
	return err
}

// Mend implements checkpoint.Mender. A request on its way may still arrive, so looking for the
// manifest of a checkpoint in doubt would not settle anything. Taking its place does: one of the
// two conditional puts is the first, and the other comes to nothing, however late.
func (s *store) Mend(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return err
	}
	for id := range s.doubted {
		_, err := s.put(ctx, manifestKey(id), []byte(void), s.nextWrite())
		if err != nil && !errors.Is(err, checkpoint.ErrExists) {
			return err
		}
		delete(s.doubted, id)
	}
	return nil
}

// owners are the blobs that manifests refer to.
type owners struct {
	blobs   map[checkpoint.BlobName]bool
	unknown checkpoint.ID // newest manifest that is damaged, 0 if none is
}

// keeps says whether a blob may still be referred to.
func (o owners) keeps(name checkpoint.BlobName) bool {
	return o.blobs[name] || name.Checkpoint <= o.unknown
}

// owners reads the manifests that are not known yet, except one.
func (s *store) owners(ctx context.Context, except checkpoint.ID) (owners, error) {
	all := owners{blobs: map[checkpoint.BlobName]bool{}}
	ids, err := s.ids(ctx)
	if err != nil {
		return all, err
	}
	for _, id := range ids {
		if id == except {
			continue
		}
		if s.known[id] == nil {
			_, err := s.manifest(ctx, id)
			if damaged(err) {
				all.unknown = max(all.unknown, id)
				continue
			}
			if errors.Is(err, checkpoint.ErrNotFound) { // void
				continue
			}
			if err != nil {
				return all, err
			}
		}
		for name := range s.known[id] {
			all.blobs[name] = true
		}
	}
	return all, nil
}

// damaged says whether an error is of what an object holds.
func damaged(err error) bool {
	var corrupt *checkpoint.CorruptError
	var version *checkpoint.VersionError
	return errors.As(err, &corrupt) || errors.As(err, &version)
}

// Drop implements checkpoint.Store.
func (s *store) Drop(ctx context.Context, id checkpoint.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return err
	}
	if _, err := s.manifest(ctx, id); err != nil && (!damaged(err) || s.doubted[id]) {
		return err
	}
	others, err := s.owners(ctx, id)
	if err != nil {
		return err
	}
	if err := s.remove(ctx, manifestKey(id)); err != nil {
		return err
	}
	for name := range s.known[id] {
		if !others.keeps(name) {
			err = errors.Join(err, s.remove(ctx, blobKey(name)))
		}
	}
	delete(s.known, id)
	return err
}

// Sweep implements checkpoint.Store. It gives up unfinished uploads, too.
func (s *store) Sweep(ctx context.Context, keep func(checkpoint.BlobName) bool) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return 0, err
	}
	// Blobs are listed before manifests: what is referred to was there before.
	objects, err := s.list(ctx, blobsPrefix)
	if err != nil {
		return 0, err
	}
	owned, err := s.owners(ctx, 0)
	if err != nil {
		return 0, err
	}
	for rest := range objects {
		name, ok := parseBlobKey(rest)
		if !ok || owned.keeps(name) || keep(name) {
			continue
		}
		if err := s.remove(ctx, blobKey(name)); err != nil {
			return removed, err
		}
		removed++
	}
	uploads, err := s.uploads(ctx, blobsPrefix)
	if err != nil {
		return removed, err
	}
	for _, u := range uploads {
		name, ok := parseBlobKey(strings.TrimPrefix(u.key, blobsPrefix))
		if !ok || keep(name) {
			continue
		}
		if err := s.abort(ctx, u.key, u.id); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

const epochsPrefix = "epochs/"

// Claim implements checkpoint.Claimer. The conditional put of a number's object claims
// it, so no two attempts have the same.
func (s *store) Claim(ctx context.Context, above uint64) (uint64, error) {
	all, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(ctx); err != nil {
		return 0, err
	}
	epoch := above
	for _, m := range all {
		epoch = max(epoch, m.Epoch)
	}
	claimed, err := s.list(ctx, epochsPrefix)
	if err != nil {
		return 0, err
	}
	for rest := range claimed {
		if n, err := strconv.ParseUint(strings.TrimPrefix(rest, "e"), 10, 64); err == nil {
			epoch = max(epoch, n)
		}
	}
	for {
		epoch++
		_, err := s.put(ctx, epochsPrefix+"e"+strconv.FormatUint(epoch, 10), nil, s.nextWrite())
		if !errors.Is(err, checkpoint.ErrExists) {
			return epoch, err
		}
	}
}
