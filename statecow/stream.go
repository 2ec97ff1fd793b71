package statecow

import "io"

// StreamWriter writes entries in the format of a written snapshot (see the package
// comment) and the variable layout, for stores that keep theirs elsewhere. After an
// error it does nothing more.
type StreamWriter struct{ b *blockWriter }

// NewStreamWriter begins a stream that holds what changed since a mark, 0 for all, up to
// another. The state has about so many entries.
func NewStreamWriter(w io.Writer, since, mark Mark, entries int) *StreamWriter {
	return &StreamWriter{newBlockWriter(w, streamHeader{since: since, mark: mark, entries: entries}, nil)}
}

// Add adds an entry or deletion, which it lends. A block leaves in one call of Write,
// which gets memory that is reused afterwards.
func (s *StreamWriter) Add(e Entry) error {
	kind := byte(putBlock)
	if e.Deleted {
		kind = deleteBlock
	}
	s.b.add(kind, e.Hash, e.Key, e.Value)
	return s.b.err
}

// Stats are what was written so far.
func (s *StreamWriter) Stats() WriteStats { return s.b.stats }

// Close ends the stream, but not the writer below.
func (s *StreamWriter) Close() (WriteStats, error) {
	err := s.b.close()
	return s.b.stats, err
}

// StreamReader reads a written snapshot of the variable layout and checks it: damage is a
// *CorruptError.
type StreamReader struct{ b blockReader }

// NewStreamReader reads the beginning of a stream. It returns a *LayoutError for
// another layout.
func NewStreamReader(r io.Reader) (*StreamReader, error) {
	s := &StreamReader{blockReader{r: r}}
	if err := s.b.begin(); err != nil {
		return nil, err
	}
	want := layout{}
	if have := s.b.header.layout(); have.fixed {
		return nil, &LayoutError{Have: have.String(), Want: want.String()}
	}
	return s, nil
}

// Since is the mark since which the stream holds what changed; 0: it is full.
func (s *StreamReader) Since() Mark { return s.b.header.since }

// Entries is about how many follow: a hint.
func (s *StreamReader) Entries() int { return s.b.header.entries }

// Next returns the next block, which is valid until the call after; ok is false behind
// the last. Each must be called on every block.
func (s *StreamReader) Next() (b Block, ok bool, err error) {
	h, payload, err := s.b.next()
	if err != nil || h.kind == endBlock {
		return b, false, err
	}
	return Block{&s.b, h, payload}, true, nil
}

// Block is some entries of a stream, all of them deletions or none.
type Block struct {
	r       *blockReader
	head    blockHeader
	payload []byte
}

// Deletions reports whether the entries are deletions.
func (b Block) Deletions() bool { return b.head.kind == deleteBlock }

// Each lends the entries to f, once, until f returns an error, and checks that they fill
// the block.
func (b Block) Each(f func(Entry) error) error { return b.r.each(b.head, b.payload, f) }

// Peek lends the entries to f until f returns false. It reports whether it came to
// the end of the block, without a look at what Each checks beyond that.
func (b Block) Peek(f func(Entry) bool) bool {
	var l layout
	for payload := b.payload; len(payload) > 0; {
		e, size := l.decode(payload)
		if size == 0 || !f(Entry{Hash: e.hash, Deleted: b.Deletions(), Key: e.key, Value: e.value}) {
			return false
		}
		payload = payload[size:]
	}
	return true
}
