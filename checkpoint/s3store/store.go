package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/overtake-stream/overtake/checkpoint"
)

// refs are the blobs that a manifest refers to.
type refs map[checkpoint.BlobName]checkpoint.BlobRef

// store is the coordinator's side.
type store struct {
	*blobs

	mu      sync.Mutex             // held during changes, and while looking at what follows
	known   map[checkpoint.ID]refs // of manifests that were read or put, which do not change
	doubted map[checkpoint.ID]bool // put, with an unknown outcome: no more changes until Mend
	closed  bool
}

// Open opens a store below a prefix of a bucket. The client is lent until Close. It
// makes one request, so that a wrong bucket or credentials are noticed here.
func Open(ctx context.Context, client *s3.Client, o Options) (checkpoint.Store, error) {
	b, err := openBlobs(client, o)
	if err != nil {
		return nil, err
	}
	s := &store{blobs: b, known: map[checkpoint.ID]refs{}, doubted: map[checkpoint.ID]bool{}}
	if _, err := s.ids(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// use says whether the store can be read.
func (s *store) use(ctx context.Context) error {
	if s.closed {
		return checkpoint.ErrClosed
	}
	return ctx.Err()
}

// change says whether the store can be changed.
func (s *store) change(ctx context.Context) error {
	if err := s.use(ctx); err != nil {
		return err
	}
	for id := range s.doubted {
		return &checkpoint.BrokenError{Err: fmt.Errorf("whether %d was published is unknown", id)}
	}
	return nil
}

// Create implements checkpoint.Blobs.
func (s *store) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	s.mu.Lock()
	err := s.use(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.blobs.Create(ctx, name)
}

// Open implements checkpoint.Blobs.
func (s *store) Open(ctx context.Context, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	s.mu.Lock()
	err := s.use(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.blobs.Open(ctx, ref)
}

// Manifest implements checkpoint.Blobs.
func (s *store) Manifest(ctx context.Context, id checkpoint.ID) (*checkpoint.Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	return s.manifest(ctx, id)
}

func (s *store) manifest(ctx context.Context, id checkpoint.ID) (*checkpoint.Manifest, error) {
	if s.doubted[id] {
		return nil, fmt.Errorf("%s: %w", s.name(manifestKey(id)), checkpoint.ErrNotFound)
	}
	m, err := s.blobs.Manifest(ctx, id)
	if err == nil {
		s.known[id] = m.BlobSet()
	}
	return m, err
}

// ids returns the checkpoints, newest first.
func (s *store) ids(ctx context.Context) ([]checkpoint.ID, error) {
	objects, err := s.list(ctx, manifestsPrefix)
	if err != nil {
		return nil, err
	}
	var ids []checkpoint.ID
	for rest := range maps.Keys(objects) {
		if id, ok := checkpoint.ParseManifestName(rest); ok && !s.doubted[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// List implements checkpoint.Store.
func (s *store) List(ctx context.Context) ([]checkpoint.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	ids, err := s.ids(ctx)
	if err != nil {
		return nil, err
	}
	var all []checkpoint.Summary
	for _, id := range ids {
		m, err := s.manifest(ctx, id)
		if err != nil {
			all = append(all, checkpoint.Summary{ID: id, Damaged: err})
			continue
		}
		all = append(all, checkpoint.Summarize(m))
	}
	return all, ctx.Err()
}

// Latest implements checkpoint.Store.
func (s *store) Latest(ctx context.Context) (*checkpoint.Manifest, []error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, nil, err
	}
	ids, err := s.ids(ctx)
	if err != nil {
		return nil, nil, err
	}
	var skipped []error
	for _, id := range ids {
		m, err := s.manifest(ctx, id)
		if err == nil {
			err = s.check(ctx, m)
		}
		var failed *checkpoint.IOError
		if errors.As(err, &failed) || ctx.Err() != nil {
			// It may be whole: going back to an older one because of the network would
			// be a mistake.
			return nil, skipped, err
		}
		if err == nil {
			return m, skipped, nil
		}
		skipped = append(skipped, err)
	}
	return nil, skipped, fmt.Errorf("checkpoint that is whole in %s: %w", s.name(""), checkpoint.ErrNotFound)
}

// Verify implements checkpoint.Store.
func (s *store) Verify(ctx context.Context, id checkpoint.ID) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	return checkpoint.VerifyBlobs(ctx, s, m)
}

// Close implements checkpoint.Store.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return checkpoint.ErrClosed
	}
	s.closed = true
	return nil
}
