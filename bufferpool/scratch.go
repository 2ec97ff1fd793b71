package bufferpool

import (
	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/valyala/bytebufferpool"
)

// keepScratch, in bytes: larger scratch is left to the garbage collector.
const keepScratch = 1 << 20

// Scratch is memory of any size for what does not fit a segment: records that span
// several, and encodings on their way there. The zero Scratch is empty and ready; a
// Scratch belongs to one goroutine.
//
// Such memory is rare, of all sizes, and contiguous, so it comes from the Go heap,
// through bytebufferpool, whose pools learn the common size. Segments do not: they
// are many, of one size, and counted against a budget. What bounds a Scratch is the
// limit that its user sets for a record.
type Scratch struct{ buf *bytebufferpool.ByteBuffer }

// Len is the number of bytes in it.
func (s *Scratch) Len() int { return len(s.Bytes()) }

// Bytes lends what is in it, until the next call of any other method.
func (s *Scratch) Bytes() []byte {
	if s.buf == nil {
		return nil
	}
	return s.buf.B
}

// Append copies b to the end. It lends b.
func (s *Scratch) Append(b []byte) {
	buf := s.get()
	buf.B = append(buf.B, b...)
}

// Start lends its memory, empty, to append to. Set the result.
func (s *Scratch) Start() []byte { return s.get().B[:0] }

// Set replaces what is in it by b, which has grown from Start. It takes b.
func (s *Scratch) Set(b []byte) { s.get().B = b }

// Free empties it and lets others have its memory.
func (s *Scratch) Free() {
	if s.buf == nil {
		return
	}
	buf := s.buf
	s.buf = nil
	if invariant.Enabled {
		invariant.Poison(buf.B)
	}
	if cap(buf.B) <= keepScratch {
		bytebufferpool.Put(buf)
	}
}

func (s *Scratch) get() *bytebufferpool.ByteBuffer {
	if s.buf == nil {
		s.buf = bytebufferpool.Get()
	}
	return s.buf
}
