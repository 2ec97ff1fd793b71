package unaligned

import (
	"context"
	"io"
	"sync"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// Combiner lets the subtasks of a worker write their records in flight into few blobs:
// a blob costs a file and a sync, whatever its size. Whoever comes while others are
// writing joins those who wait, and they share the next blob. Any goroutine may use it.
type Combiner struct {
	blobs checkpoint.Blobs
	mu    sync.Mutex
	open  map[protocol.ID]*writers
}

// writers are the subtasks that write for one checkpoint.
type writers struct {
	leading int          // combinations being written, or about to be
	next    *combination // those who wait for one of them to be done; nil: nobody
}

// combination is a blob that several subtasks write.
type combination struct {
	writers []func(io.Writer) error
	offsets []int64
	size    int64         // about, of all
	turn    chan struct{} // closed when it may be written
	done    chan struct{} // closed when ref and err are set
	ref     checkpoint.BlobRef
	err     error
}

// combineLeads is how many blobs of a checkpoint are written at a time.
const combineLeads = 2

// NewCombiner returns a combiner that writes to blobs.
func NewCombiner(blobs checkpoint.Blobs) *Combiner {
	return &Combiner{blobs: blobs, open: map[protocol.ID]*writers{}}
}

// Write writes what write writes into a blob of checkpoint id that others may share,
// about size bytes, and returns where it begins. name is the blob's if nobody has begun it. If it fails,
// for whichever of those that share the blob, nobody's part counts: each may write
// again, on its own.
func (c *Combiner) Write(ctx context.Context, id protocol.ID, name checkpoint.BlobName, size int64, write func(io.Writer) error) (ref checkpoint.BlobRef, offset int64, err error) {
	g, i := c.join(id, size, write)
	if i == 0 {
		<-g.turn
		g.ref, g.err = c.write(ctx, name, g)
		close(g.done)
		c.leave(id)
	}
	<-g.done
	if g.err != nil {
		return g.ref, 0, g.err
	}
	return g.ref, g.offsets[i], nil
}

// join adds a writer to a combination; the first one of it leads.
func (c *Combiner) join(id protocol.ID, size int64, write func(io.Writer) error) (*combination, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.open[id]
	if w == nil {
		w = &writers{}
		c.open[id] = w
	}
	g := w.next
	if g == nil {
		g = &combination{turn: make(chan struct{}), done: make(chan struct{})}
		if w.leading < combineLeads {
			w.leading++
			close(g.turn)
		} else {
			w.next = g
		}
	}
	g.writers = append(g.writers, write)
	g.size += size
	return g, len(g.writers) - 1
}

// leave lets those who wait go on.
func (c *Combiner) leave(id protocol.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.open[id]
	switch {
	case w.next != nil:
		close(w.next.turn)
		w.next = nil
	case w.leading == 1:
		delete(c.open, id)
	default:
		w.leading--
	}
}

// write writes the blob of a combination that nobody can join any more.
func (c *Combiner) write(ctx context.Context, name checkpoint.BlobName, g *combination) (ref checkpoint.BlobRef, err error) {
	b, err := c.blobs.Create(ctx, name)
	if err != nil {
		return ref, err
	}
	defer b.Abort()
	if b, ok := b.(checkpoint.Grower); ok {
		b.Grow(g.size)
	}
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

// Waiting is how many subtasks wait to share the next blob of a checkpoint.
func (c *Combiner) Waiting(id protocol.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.open[id]; w != nil && w.next != nil {
		return len(w.next.writers)
	}
	return 0
}
