package pressure

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
)

// Store returns a store that takes and gives SlowDisk bytes per second of blobs, all who
// write and read together, with what surrounds them not counted; and the store itself if
// there is no such pressure. It shares s, which is closed with it.
func (c Config) Store(s checkpoint.Store) checkpoint.Store {
	if c.SlowDisk <= 0 {
		return s
	}
	return &slowStore{Store: s, disk: &disk{rate: float64(c.SlowDisk)}}
}

// Directory puts the pressure of a slow disk before the directory of a job's checkpoints, if
// there is to be one: the store takes the place of c.Dir. The caller calls closeStore after
// the job's end.
func (c Config) Directory(o *overtake.Checkpoints) (closeStore func() error, err error) {
	if c.SlowDisk <= 0 || o.Dir == "" {
		return func() error { return nil }, nil
	}
	store, err := checkpoint.OpenDir(o.Dir, checkpoint.Options{})
	if err != nil {
		return nil, err
	}
	o.Dir, o.Store = "", c.Store(store)
	return store.Close, nil
}

// Blobs is Store for the access that workers have to it.
func (c Config) Blobs(b checkpoint.Blobs) checkpoint.Blobs {
	if c.SlowDisk <= 0 {
		return b
	}
	return &slowBlobs{Blobs: b, disk: &disk{rate: float64(c.SlowDisk)}}
}

type slowStore struct {
	checkpoint.Store
	*disk
}

// Create implements checkpoint.Blobs.
func (s *slowStore) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	return s.slow(ctx, s.Store, name)
}

// Open implements checkpoint.Blobs.
func (s *slowStore) Open(ctx context.Context, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	return s.open(ctx, s.Store, ref)
}

// Claim implements checkpoint.Claimer.
func (s *slowStore) Claim(ctx context.Context, above uint64) (uint64, error) {
	return checkpoint.Claim(ctx, s.Store, above)
}

type slowBlobs struct {
	checkpoint.Blobs
	*disk
}

// Create implements checkpoint.Blobs.
func (s *slowBlobs) Create(ctx context.Context, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	return s.slow(ctx, s.Blobs, name)
}

// Open implements checkpoint.Blobs.
func (s *slowBlobs) Open(ctx context.Context, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	return s.open(ctx, s.Blobs, ref)
}

// Writer returns one that writes SlowDisk bytes per second to w, and w itself if there is no
// such pressure. The end of ctx ends a wait.
func (c Config) Writer(ctx context.Context, w io.Writer) io.Writer {
	if c.SlowDisk <= 0 {
		return w
	}
	return &slowStream{disk: &disk{rate: float64(c.SlowDisk)}, ctx: ctx, Writer: w}
}

// Reader returns one that reads SlowDisk bytes per second from r, and r itself if there is
// no such pressure. The end of ctx ends a wait.
func (c Config) Reader(ctx context.Context, r io.Reader) io.Reader {
	if c.SlowDisk <= 0 {
		return r
	}
	return &slowStream{disk: &disk{rate: float64(c.SlowDisk)}, ctx: ctx, Reader: r}
}

// disk is busy until everything that was given to it is written or read.
type disk struct {
	rate float64 // bytes per second

	mu   sync.Mutex
	busy time.Time // until then
}

func (d *disk) slow(ctx context.Context, b checkpoint.Blobs, name checkpoint.BlobName) (checkpoint.BlobWriter, error) {
	w, err := b.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &slowWriter{BlobWriter: w, slow: slowStream{disk: d, ctx: ctx, Writer: w}}, nil
}

func (d *disk) open(ctx context.Context, b checkpoint.Blobs, ref checkpoint.BlobRef) (io.ReadCloser, error) {
	r, err := b.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return slowReader{slowStream{disk: d, ctx: ctx, Reader: r}, r}, nil
}

// wait waits until the disk has moved n bytes more, or ctx ends, which is an error.
func (d *disk) wait(ctx context.Context, n int) error {
	d.mu.Lock()
	if now := time.Now(); d.busy.Before(now) {
		d.busy = now
	}
	d.busy = d.busy.Add(time.Duration(float64(n) / d.rate * 1e9))
	until := d.busy
	d.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// slowStream is either a writer or a reader.
type slowStream struct {
	*disk
	ctx context.Context
	io.Writer
	io.Reader
}

// Write implements io.Writer.
func (s *slowStream) Write(p []byte) (int, error) {
	if err := s.wait(s.ctx, len(p)); err != nil {
		return 0, err
	}
	return s.Writer.Write(p)
}

// Read implements io.Reader.
func (s *slowStream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if slow := s.wait(s.ctx, n); slow != nil {
		return 0, slow
	}
	return n, err
}

type slowWriter struct {
	checkpoint.BlobWriter
	slow slowStream
}

// Write implements io.Writer.
func (w *slowWriter) Write(p []byte) (int, error) { return w.slow.Write(p) }

// Grow implements checkpoint.Grower.
func (w *slowWriter) Grow(n int64) {
	if g, ok := w.BlobWriter.(checkpoint.Grower); ok {
		g.Grow(n)
	}
}

type slowReader struct {
	slow  slowStream
	whole io.ReadCloser
}

// Read implements io.Reader.
func (r slowReader) Read(p []byte) (int, error) { return r.slow.Read(p) }

// Close implements io.Closer.
func (r slowReader) Close() error { return r.whole.Close() }
