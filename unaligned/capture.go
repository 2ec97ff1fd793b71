package unaligned

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Channel names a channel for the life of the job's state.
type Channel struct {
	Edge     string // from which operator to which, by UID
	From, To int    // subtasks
}

// Capture is the records that were in flight when the barriers of a checkpoint
// overtook them: shared buffers, and copies. It belongs to the subtask's goroutine until
// it is handed to a writer, and to that from then on.
type Capture struct {
	shared *atomic.Int64 // counts the shared buffers
	memory *Memory       // where copies are; nil: anywhere
	chunks [][]byte      // of it
	runs   []captured
	spare  []piece // for the runs to come
}

// runPieces is for how many pieces of a run there is room ahead.
const runPieces = 4

// Reserve makes room for runs, so that nothing has to be allocated while a subtask stands
// still for its barriers.
func (c *Capture) Reserve(runs int) {
	c.runs = make([]captured, 0, runs)
	c.spare = make([]piece, runs*runPieces)
	c.chunks = make([][]byte, 0, runs*runPieces/2)
}

// Use makes copies in a memory, which gets its chunks back when the capture is released.
// It shares m.
func (c *Capture) Use(m *Memory) { c.memory = m }

// clone returns a copy that is there until the capture is released.
func (c *Capture) clone(b []byte) []byte {
	if c.memory == nil || len(b) > chunkSize {
		return slices.Clone(b)
	}
	last := len(c.chunks) - 1
	if last < 0 || len(b) > cap(c.chunks[last])-len(c.chunks[last]) {
		c.chunks = append(c.chunks, c.memory.take())
		last++
	}
	chunk := c.chunks[last]
	from := len(chunk)
	chunk = append(chunk, b...)
	c.chunks[last] = chunk
	return chunk[from:len(chunk):len(chunk)]
}

// captured is the records of one channel, in order.
type captured struct {
	Channel
	out    bool // they were in the sender's queue
	pieces []piece
	bytes  int64
}

// piece is a shared buffer, or bytes of our own.
type piece struct {
	buf   bufferpool.Buffer
	from  int // what of its payload is not captured
	bytes []byte
}

func (p *piece) payload() []byte {
	if p.bytes != nil {
		return p.bytes
	}
	return p.buf.Payload()[p.from:]
}

func (c *Capture) done(p *piece) {
	if !p.buf.IsZero() {
		p.buf.Release()
		c.shared.Add(-1)
	}
	*p = piece{}
}

// run returns the run of a channel.
func (c *Capture) run(ch Channel, out bool) *captured {
	for i := range c.runs {
		if r := &c.runs[i]; r.Channel == ch && r.out == out {
			return r
		}
	}
	r := captured{Channel: ch, out: out}
	if len(c.spare) > 0 {
		r.pieces, c.spare = c.spare[:0:runPieces], c.spare[runPieces:]
	}
	c.runs = append(c.runs, r)
	return &c.runs[len(c.runs)-1]
}

// Take adds a buffer. It takes the caller's reference.
func (c *Capture) Take(ch Channel, out bool, buf bufferpool.Buffer, share bool) {
	c.TakeRest(ch, out, buf, buf.Len(), share)
}

// TakeRest adds the last n bytes of a buffer. It takes the caller's reference.
func (c *Capture) TakeRest(ch Channel, out bool, buf bufferpool.Buffer, n int, share bool) {
	from := buf.Len() - n
	if n == 0 || !share {
		c.Copy(ch, out, buf.Payload()[from:])
		buf.Release()
		return
	}
	c.shared.Add(1)
	r := c.run(ch, out)
	r.pieces = append(r.pieces, piece{buf: buf, from: from})
	r.bytes += int64(n)
}

// Copy adds bytes. It lends them.
func (c *Capture) Copy(ch Channel, out bool, b []byte) {
	if len(b) > 0 {
		c.Keep(ch, out, c.clone(b))
	}
}

// Keep adds bytes that never change. It shares them.
func (c *Capture) Keep(ch Channel, out bool, b []byte) {
	if len(b) > 0 {
		r := c.run(ch, out)
		r.pieces = append(r.pieces, piece{bytes: b})
		r.bytes += int64(len(b))
	}
}

// Unshare gives all buffers back and goes on with copies.
func (c *Capture) Unshare() {
	for i := range c.runs {
		for j := range c.runs[i].pieces {
			if p := &c.runs[i].pieces[j]; p.bytes == nil {
				b := c.clone(p.payload())
				c.done(p)
				p.bytes = b
			}
		}
	}
}

// Release gives back all that is held.
func (c *Capture) Release() {
	for i := range c.runs {
		for j := range c.runs[i].pieces {
			c.done(&c.runs[i].pieces[j])
		}
	}
	c.runs = nil
	if c.memory != nil {
		c.memory.give(c.chunks)
		c.memory, c.chunks = nil, nil
	}
}

// Bytes is the size of what was captured on one side.
func (c *Capture) Bytes(out bool) (n int64) {
	for i := range c.runs {
		if c.runs[i].out == out {
			n += c.runs[i].bytes
		}
	}
	return n
}

// Index describes the runs, in the order in which write writes them:
//
//	length u32 | edge | from u32 | to u32 | out u8 | bytes u64
func (c *Capture) Index() (b []byte) {
	for i := range c.runs {
		r := &c.runs[i]
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Edge)))
		b = append(b, r.Edge...)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.From))
		b = binary.LittleEndian.AppendUint32(b, uint32(r.To))
		b = append(b, 0)
		if r.out {
			b[len(b)-1] = 1
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(r.bytes))
	}
	return b
}

// Write writes the records straight from where they lie. It may be called again.
func (c *Capture) Write(w io.Writer) error {
	for i := range c.runs {
		for j := range c.runs[i].pieces {
			p := &c.runs[i].pieces[j]
			if _, err := w.Write(p.payload()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run is a run of captured records as a checkpoint has it.
type Run struct {
	Channel
	Out   bool
	Bytes int64
}

// ErrRuns says that the index of in-flight records is damaged.
var ErrRuns = errors.New("unaligned: the index of in-flight records in the checkpoint is damaged")

// ParseRuns decodes the index of a checkpoint's in-flight records.
func ParseRuns(b []byte) (list []Run, err error) {
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, ErrRuns
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		if uint64(len(b)) < 4+n+17 {
			return nil, ErrRuns
		}
		r := Run{Channel: Channel{Edge: string(b[4 : 4+n])}}
		b = b[4+n:]
		r.From, r.To = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
		r.Out, r.Bytes = b[8] != 0, int64(binary.LittleEndian.Uint64(b[9:]))
		if b = b[17:]; r.Bytes < 0 {
			return nil, ErrRuns
		}
		list = append(list, r)
	}
	return list, nil
}

// NewCapture returns an empty capture. shared counts the buffers that it, and others,
// share with the exchange.
func NewCapture(shared *atomic.Int64) Capture { return Capture{shared: shared} }

// Empty reports whether nothing was captured.
func (c *Capture) Empty() bool { return len(c.runs) == 0 }
