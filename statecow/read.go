package statecow

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// blockReader reads a written snapshot and checks it.
type blockReader struct {
	r       io.Reader
	offset  int64 // of the next byte
	start   int64 // of the present block
	number  uint32
	buf     []byte
	header  streamHeader
	entries int64 // of put blocks so far
	deletes int64
	payload int64
}

func (b *blockReader) corrupt(format string, args ...any) error {
	return &CorruptError{Offset: b.start, Reason: fmt.Sprintf(format, args...)}
}

// fill reads exactly n bytes.
func (b *blockReader) fill(p []byte) error {
	n, err := io.ReadFull(b.r, p)
	b.offset += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return b.corrupt("it ends after %d bytes", b.offset)
	}
	return err
}

func (b *blockReader) begin() error {
	var head [headerSize]byte
	if err := b.fill(head[:]); err != nil {
		return err
	}
	if why := b.header.parse(head[:]); why != "" {
		return b.corrupt("%s", why)
	}
	return nil
}

// next reads a block. After the last it returns kind endBlock.
func (b *blockReader) next() (h blockHeader, payload []byte, err error) {
	b.start = b.offset
	var head [blockHead]byte
	if err := b.fill(head[:]); err != nil {
		return h, nil, err
	}
	if why := h.parse(head[:], b.number); why != "" {
		return h, nil, b.corrupt("%s", why)
	}
	b.number++
	if payload, err = b.body(int(h.length)); err != nil {
		return h, nil, err
	}
	if crc32.Checksum(payload, castagnoli) != h.crc {
		return h, nil, b.corrupt("checksum of a block differs")
	}
	if h.kind == endBlock {
		return h, payload, b.end(payload)
	}
	b.payload += int64(len(payload))
	return h, payload, nil
}

// body reads n bytes, in pieces: memory is taken as they come, not as a damaged
// length asks.
func (b *blockReader) body(n int) ([]byte, error) {
	b.buf = b.buf[:0]
	for len(b.buf) < n {
		have := len(b.buf)
		piece := min(n-have, 4*blockTarget)
		if cap(b.buf) < have+piece {
			b.buf = append(make([]byte, 0, max(have+piece, 2*have)), b.buf...)
		}
		b.buf = b.buf[:have+piece]
		if err := b.fill(b.buf[have:]); err != nil {
			return nil, err
		}
	}
	return b.buf, nil
}

// each lends the entries of a block of the variable layout to f, and checks that they
// fill it.
func (b *blockReader) each(h blockHeader, payload []byte, f func(Entry) error) error {
	var l layout
	n := uint32(0)
	for ; len(payload) > 0; n++ {
		e, size := l.decode(payload)
		if size == 0 {
			return b.misfit(n)
		}
		if err := f(Entry{Hash: e.hash, Deleted: h.kind == deleteBlock, Key: e.key, Value: e.value}); err != nil {
			return err
		}
		payload = payload[size:]
	}
	return b.counted(h, n)
}

// misfit is the error of record n of a block.
func (b *blockReader) misfit(n uint32) error {
	return b.corrupt("record %d of a block does not fit it", n)
}

// counted notes that a block was read to its end and has n records.
func (b *blockReader) counted(h blockHeader, n uint32) error {
	if n != h.records {
		return b.corrupt("a block of %d records holds %d", h.records, n)
	}
	if h.kind == deleteBlock {
		b.deletes += int64(n)
	} else {
		b.entries += int64(n)
	}
	return nil
}

// end checks the totals and that nothing follows.
func (b *blockReader) end(p []byte) error {
	le := binary.LittleEndian
	if int64(le.Uint64(p)) != b.entries || int64(le.Uint64(p[8:])) != b.deletes || int64(le.Uint64(p[16:])) != b.payload {
		return b.corrupt("totals differ: %d entries and %d deletions read, %d and %d written", b.entries, b.deletes, le.Uint64(p), le.Uint64(p[8:]))
	}
	var more [1]byte
	if n, err := io.ReadFull(b.r, more[:]); n > 0 {
		return b.corrupt("data follows its end")
	} else if err != io.EOF {
		return err
	}
	return nil
}
