package pressure

import (
	"context"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
)

// Store returns a store that takes SlowDisk bytes per second, all writers together, with
// what surrounds them not counted; and the store itself if there is no such pressure. It
// shares s, which is closed with it.
func (c Config) Store(s checkpoint.Store) checkpoint.Store {
	if c.SlowDisk <= 0 {
		return s
	}
	return &slowStore{Store: s, disk: &disk{rate: float64(c.SlowDisk)}}
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

// disk is busy until everything that was given to it is written.
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
	return &slowWriter{BlobWriter: w, disk: d, ctx: ctx}, nil
}

// wait waits until the disk has taken n bytes more, or ctx ends.
func (d *disk) wait(ctx context.Context, n int) {
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
}

type slowWriter struct {
	checkpoint.BlobWriter
	*disk
	ctx context.Context
}

// Write implements io.Writer.
func (w *slowWriter) Write(p []byte) (int, error) {
	w.wait(w.ctx, len(p))
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.BlobWriter.Write(p)
}

// Grow implements checkpoint.Grower.
func (w *slowWriter) Grow(n int64) {
	if g, ok := w.BlobWriter.(checkpoint.Grower); ok {
		g.Grow(n)
	}
}
