package task

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// Combiner lets the subtasks of a worker write their records in flight into few blobs:
// a blob costs a file and a sync, whatever its size. Any goroutine may use it.
type Combiner struct {
	blobs checkpoint.Blobs
	mu    sync.Mutex
	open  map[protocol.ID]*combination
}

// combination is a blob that several subtasks write.
type combination struct {
	writers []func(io.Writer) error
	offsets []int64
	full    chan struct{} // closed when no more may join
	done    chan struct{} // closed when ref and err are set
	ref     checkpoint.BlobRef
	err     error
}

const (
	combineMost = 8                    // subtasks that share a blob
	combineWait = 2 * time.Millisecond // for others to join
)

// NewCombiner returns a combiner that writes to blobs.
func NewCombiner(blobs checkpoint.Blobs) *Combiner {
	return &Combiner{blobs: blobs, open: map[protocol.ID]*combination{}}
}

// Write writes what write writes into a blob of checkpoint id that others may share,
// and returns where it begins. name is the blob's if nobody has begun it. If it fails,
// for whichever of those that share the blob, nobody's part counts: each may write
// again, on its own.
func (c *Combiner) Write(ctx context.Context, id protocol.ID, name checkpoint.BlobName, write func(io.Writer) error) (ref checkpoint.BlobRef, offset int64, err error) {
	g, i := c.join(id, write)
	if i == 0 {
		g.ref, g.err = c.lead(ctx, id, name, g)
		close(g.done)
	}
	<-g.done
	if g.err != nil {
		return g.ref, 0, g.err
	}
	return g.ref, g.offsets[i], nil
}

// join adds a writer to the combination of a checkpoint; the first one leads it.
func (c *Combiner) join(id protocol.ID, write func(io.Writer) error) (*combination, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.open[id]
	if g == nil {
		g = &combination{full: make(chan struct{}), done: make(chan struct{})}
		c.open[id] = g
	}
	g.writers = append(g.writers, write)
	if len(g.writers) == combineMost {
		delete(c.open, id)
		close(g.full)
	}
	return g, len(g.writers) - 1
}

// lead waits for others, and writes the blob.
func (c *Combiner) lead(ctx context.Context, id protocol.ID, name checkpoint.BlobName, g *combination) (ref checkpoint.BlobRef, err error) {
	timer := time.NewTimer(combineWait)
	defer timer.Stop()
	select {
	case <-g.full:
	case <-timer.C:
		c.mu.Lock()
		if c.open[id] == g {
			delete(c.open, id)
		}
		c.mu.Unlock()
	}
	b, err := c.blobs.Create(ctx, name)
	if err != nil {
		return ref, err
	}
	defer b.Abort()
	w := &measured{to: b}
	for _, write := range g.writers {
		g.offsets = append(g.offsets, w.n)
		if err := write(w); err != nil {
			return ref, err
		}
	}
	return b.Commit()
}

// measured counts what is written.
type measured struct {
	to io.Writer
	n  int64
}

// Write implements io.Writer.
func (m *measured) Write(p []byte) (int, error) {
	n, err := m.to.Write(p)
	m.n += int64(n)
	return n, err
}
