package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// memory is a store in this process's memory.
type memory struct {
	mu        sync.Mutex
	blobs     map[BlobName]*memoryBlob
	spare     [][]byte // memory of blobs that are gone, for those to come
	manifests map[ID]memoryManifest
	epoch     uint64 // last claimed
	closed    bool
}

// NewMemory returns a store that is gone with its process. It behaves as the others
// do, without their encoding of blobs.
func NewMemory() Store {
	return &memory{blobs: map[BlobName]*memoryBlob{}, manifests: map[ID]memoryManifest{}}
}

// memoryManifest is a manifest, encoded, and the blobs that it refers to.
type memoryManifest struct {
	data  []byte
	blobs []BlobName
}

// memoryBlob is a blob that is finished.
type memoryBlob struct {
	data   []byte
	told   bool // its size was, ahead
	opened bool // somebody may be reading it
}

// spareBlobs is of how many blobs whose size was told ahead the memory is kept: of records in
// flight, which are much the same from one checkpoint to the next, and gone after it.
const spareBlobs = 4

// remove removes a blob. Its memory is kept if that is nobody else's.
func (s *memory) remove(name BlobName) {
	b := s.blobs[name]
	delete(s.blobs, name)
	if b != nil && b.told && !b.opened && len(s.spare) < spareBlobs {
		if invariant.Enabled {
			invariant.Poison(b.data)
		}
		s.spare = append(s.spare, b.data[:0])
	}
}

// room returns memory for a blob of about n bytes: what was kept, unless that is too small,
// or so large that most of it would be of no use.
func (s *memory) room(n int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fits []byte
	s.spare = slices.DeleteFunc(s.spare, func(b []byte) bool {
		if fits != nil || int64(cap(b)) < n || int64(cap(b)) > 4*n {
			return false
		}
		fits = b
		return true
	})
	if fits == nil && len(s.spare) == spareBlobs { // sizes have changed
		s.spare = slices.Delete(s.spare, 0, 1)
	}
	return fits
}

// memoryWriter is a blob that is being written.
type memoryWriter struct {
	store *memory
	ctx   context.Context
	name  BlobName
	data  []byte
	told  bool // its size, by Grow
	done  bool
}

func (s *memory) use(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return ErrClosed
	}
	return nil
}

func (s *memory) Create(ctx context.Context, name BlobName) (BlobWriter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	if _, ok := s.blobs[name]; ok {
		return nil, fmt.Errorf("blob %v: %w", name, ErrExists)
	}
	return &memoryWriter{store: s, ctx: ctx, name: name}, nil
}

// Write implements BlobWriter.
func (w *memoryWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	w.data = append(w.data, p...)
	return len(p), nil
}

// Grow implements Grower.
func (w *memoryWriter) Grow(n int64) {
	if w.data == nil {
		w.data = w.store.room(n)
	}
	w.data, w.told = slices.Grow(w.data, int(n)), true
}

// Commit implements BlobWriter.
func (w *memoryWriter) Commit() (BlobRef, error) {
	sum := xxh3.Hash(w.data)
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	if err := w.store.use(w.ctx); err != nil {
		return BlobRef{}, err
	}
	if _, ok := w.store.blobs[w.name]; ok || w.done {
		return BlobRef{}, fmt.Errorf("blob %v: %w", w.name, ErrExists)
	}
	w.done = true
	w.store.blobs[w.name] = &memoryBlob{data: w.data, told: w.told}
	// An empty blob takes a byte, as a reference to nothing at all is invalid.
	return BlobRef{Name: w.name, Size: int64(len(w.data)), Stored: max(1, int64(len(w.data))), Sum: sum}, nil
}

// Abort implements BlobWriter.
func (w *memoryWriter) Abort() {
	if !w.done {
		w.done, w.data = true, nil
	}
}

func (s *memory) Open(ctx context.Context, ref BlobRef) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	blob, ok := s.blobs[ref.Name]
	if !ok {
		return nil, fmt.Errorf("blob %v: %w", ref.Name, ErrNotFound)
	}
	data := blob.data
	blob.opened = true
	if int64(len(data)) != ref.Size || xxh3.Hash(data) != ref.Sum {
		return nil, &CorruptError{File: ref.Name.String(), Reason: "it is not the blob that was referred to"}
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (s *memory) Manifest(ctx context.Context, id ID) (*Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	return s.manifest(id)
}

func (s *memory) manifest(id ID) (*Manifest, error) {
	stored, ok := s.manifests[id]
	if !ok {
		return nil, fmt.Errorf("checkpoint %d: %w", id, ErrNotFound)
	}
	return DecodeManifest(ManifestName(id), stored.data)
}

// check compares a manifest's references with the blobs that are there.
func (s *memory) check(m *Manifest) error {
	for name, ref := range m.BlobSet() {
		e := &MissingError{Checkpoint: m.ID, Blob: name, File: name.String(), Want: ref.Stored, Got: -1}
		blob, ok := s.blobs[name]
		if !ok {
			return e
		}
		if e.Got = max(1, int64(len(blob.data))); e.Got != e.Want {
			return e
		}
	}
	return nil
}

func (s *memory) Publish(ctx context.Context, m *Manifest) error {
	data, err := EncodeManifest(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return err
	}
	if _, ok := s.manifests[m.ID]; ok {
		return fmt.Errorf("checkpoint %d: %w", m.ID, ErrExists)
	}
	if err := s.check(m); err != nil {
		return err
	}
	stored := memoryManifest{data: data}
	m.Blobs(func(ref BlobRef) { stored.blobs = append(stored.blobs, ref.Name) })
	s.manifests[m.ID] = stored
	return nil
}

// ids returns the checkpoints, newest first.
func (s *memory) ids() []ID {
	ids := slices.Sorted(maps.Keys(s.manifests))
	slices.Reverse(ids)
	return ids
}

func (s *memory) List(ctx context.Context) ([]Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, err
	}
	var all []Summary
	for _, id := range s.ids() {
		m, err := s.manifest(id)
		if err != nil {
			all = append(all, Summary{ID: id, Damaged: err})
			continue
		}
		all = append(all, Summarize(m))
	}
	return all, nil
}

func (s *memory) Latest(ctx context.Context) (*Manifest, []error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return nil, nil, err
	}
	var skipped []error
	for _, id := range s.ids() {
		m, err := s.manifest(id)
		if err == nil {
			err = s.check(m)
		}
		if err == nil {
			return m, skipped, nil
		}
		skipped = append(skipped, err)
	}
	return nil, skipped, fmt.Errorf("checkpoint that is whole: %w", ErrNotFound)
}

// owned returns the blobs that manifests refer to.
func (s *memory) owned() map[BlobName]bool {
	owned := map[BlobName]bool{}
	for _, stored := range s.manifests {
		for _, name := range stored.blobs {
			owned[name] = true
		}
	}
	return owned
}

func (s *memory) Drop(ctx context.Context, id ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return err
	}
	stored, ok := s.manifests[id]
	if !ok {
		return fmt.Errorf("checkpoint %d: %w", id, ErrNotFound)
	}
	delete(s.manifests, id)
	owned := s.owned()
	for _, name := range stored.blobs {
		if !owned[name] {
			s.remove(name)
		}
	}
	return nil
}

func (s *memory) Sweep(ctx context.Context, keep func(BlobName) bool) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.use(ctx); err != nil {
		return 0, err
	}
	owned := s.owned()
	for name := range s.blobs {
		if !owned[name] && !keep(name) {
			s.remove(name)
			removed++
		}
	}
	return removed, nil
}

func (s *memory) Verify(ctx context.Context, id ID) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	return VerifyBlobs(ctx, s, m)
}

func (s *memory) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.closed = true
	return nil
}
