package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"syscall"
)

// dirStore is the coordinator's side of a directory.
type dirStore struct {
	*dirBlobs
	lock io.Closer

	mu       sync.Mutex // held during changes, and while looking at what follows
	cat      *catalogue
	owners   map[BlobName]int // how many checkpoints refer to each blob
	dropping map[ID]entry     // forgotten, but their manifests may still be there
	doubted  map[ID]bool      // their manifests may be there, but Publish has failed
	unknown  map[ID]bool      // damaged manifests of which nothing is known
	broken   error            // why there are no more changes, nil if there are
	closed   bool
}

// OpenDir opens the store in a directory, and creates it if it is not there. Only one
// process at a time can have it open: another gets ErrOwned. Opening finishes what a
// crash has interrupted, and makes the catalogue again if it is missing or damaged.
func OpenDir(path string, o Options) (Store, error) {
	blobs, err := openBlobs(path, o, blobsDir, manifestsDir)
	if err != nil {
		return nil, err
	}
	s := &dirStore{dirBlobs: blobs, doubted: map[ID]bool{}}
	if s.lock, err = blobs.fs.Lock(blobs.path(lockFile)); err != nil {
		return nil, lockError(blobs.path(lockFile), err)
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// lockError tells a lock that is taken from one that cannot be had. The system's
// refusal is a bare number; that of a file comes with its path.
func lockError(path string, err error) error {
	var ofFile *fs.PathError
	refused := errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES)
	if refused && !errors.As(err, &ofFile) || err.Error() == "lock held by current process" {
		return fmt.Errorf("%s: %w", path, ErrOwned)
	}
	return ioError("lock", path, err)
}

// Mend implements Mender.
func (s *dirStore) Mend(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil || s.broken == nil {
		return err
	}
	if s.cat != nil {
		_ = s.cat.close() // it is what failed, perhaps, and it is made again
		s.cat = nil
	}
	if err := s.start(); err != nil {
		return err
	}
	s.doubted, s.broken = map[ID]bool{}, nil
	return nil
}

// stop closes what is open.
func (s *dirStore) stop() error {
	var err error
	if s.cat != nil {
		err = s.cat.close()
	}
	return errors.Join(err, ioError("unlock", s.path(lockFile), s.lock.Close()))
}

// Close implements Store.
func (s *dirStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.closed = true
	return s.stop()
}

// use says whether the store can be read.
func (s *dirStore) use(ctx context.Context) error {
	if s.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// change says whether the store can be changed.
func (s *dirStore) change(ctx context.Context) error {
	if err := s.use(ctx); err != nil {
		return err
	}
	if s.broken != nil {
		return &BrokenError{Err: s.broken}
	}
	return nil
}

// breaks stops all changes after a failure of which the disk's state is unknown.
func (s *dirStore) breaks(err error) {
	if s.broken == nil {
		s.broken = err
	}
}

// Create implements Blobs.
func (s *dirStore) Create(ctx context.Context, name BlobName) (BlobWriter, error) {
	s.mu.Lock()
	err := s.use(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.dirBlobs.Create(ctx, name)
}

// Open implements Blobs.
func (s *dirStore) Open(ctx context.Context, ref BlobRef) (io.ReadCloser, error) {
	s.mu.Lock()
	err := s.use(ctx)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.dirBlobs.Open(ctx, ref)
}

// hidden says whether a manifest's file does not count.
func (s *dirStore) hidden(id ID) bool {
	_, dropping := s.dropping[id]
	return dropping || s.doubted[id]
}

// Manifest implements Blobs.
func (s *dirStore) Manifest(ctx context.Context, id ID) (*Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	if s.hidden(id) {
		return nil, fmt.Errorf("%s: %w", s.manifest(id), ErrNotFound)
	}
	return s.dirBlobs.Manifest(ctx, id)
}

// ids returns the checkpoints, newest first.
func (s *dirStore) ids() ([]ID, error) {
	dir := s.path(manifestsDir)
	files, err := s.fs.List(dir)
	if err != nil {
		return nil, ioError("list", dir, err)
	}
	var ids []ID
	for _, file := range files {
		if id, ok := ParseManifestName(file); ok && !s.hidden(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// List implements Store.
func (s *dirStore) List(ctx context.Context) ([]Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var all []Summary
	for _, id := range ids {
		m, err := s.dirBlobs.Manifest(ctx, id)
		if err == nil {
			all = append(all, Summarize(m))
			continue
		}
		known := Summary{}
		if en, found, _ := s.cat.entry(id); found { // its failure is that little is known
			known = en.summary
		}
		known.ID, known.Damaged = id, err
		all = append(all, known)
	}
	return all, ctx.Err()
}

// Latest implements Store.
func (s *dirStore) Latest(ctx context.Context) (*Manifest, []error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, nil, err
	}
	ids, err := s.ids()
	if err != nil {
		return nil, nil, err
	}
	var skipped []error
	for _, id := range ids {
		m, err := s.dirBlobs.Manifest(ctx, id)
		if err == nil {
			err = s.check(m)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil {
			return m, skipped, nil
		}
		if hindered(err) {
			return nil, skipped, err
		}
		skipped = append(skipped, err)
	}
	return nil, skipped, fmt.Errorf("checkpoint that is whole in %s: %w", s.root, ErrNotFound)
}

// hindered says whether something kept a file from being read: the disk, or the limit of open
// files. It may be whole, so going back to an older checkpoint would be a mistake.
func hindered(err error) bool {
	var failed *IOError
	return errors.As(err, &failed)
}

// Verify implements Store.
func (s *dirStore) Verify(ctx context.Context, id ID) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	return VerifyBlobs(ctx, s, m)
}
