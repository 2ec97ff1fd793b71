package lsm

import (
	"encoding/binary"
	"io"

	"github.com/overtake-stream/overtake/statecow"
)

// streamWriter gathers entries of one kind and writes them as blocks.
type streamWriter struct {
	w       io.Writer
	buf     []byte // blockHead bytes, then the payload
	kind    byte
	number  uint32
	records uint32
	payload int64
	stats   statecow.WriteStats
	err     error
}

func newStreamWriter(w io.Writer, h streamHeader) *streamWriter {
	b := &streamWriter{w: w, buf: make([]byte, blockHead, blockHead+blockTarget+4096)}
	if h.since != 0 {
		h.entries = 0
	}
	b.write(h.append(nil))
	return b
}

func (b *streamWriter) write(p []byte) {
	if b.err != nil {
		return
	}
	n, err := b.w.Write(p)
	b.stats.Bytes += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	b.err = err
}

func (b *streamWriter) add(e statecow.Entry) {
	kind := byte(putBlock)
	if e.Deleted {
		kind = deleteBlock
		b.stats.Deletions++
	} else {
		b.stats.Entries++
	}
	if b.kind != kind || len(b.buf)-blockHead+entrySize(len(e.Key), len(e.Value)) > blockTarget {
		b.end()
		b.kind = kind
	}
	b.buf = appendEntry(b.buf, e.Hash, e.Key, e.Value)
	b.records++
}

// end writes the block.
func (b *streamWriter) end() {
	if b.records > 0 {
		b.payload += int64(len(b.buf) - blockHead)
		b.emit()
	}
}

func (b *streamWriter) emit() {
	payload := b.buf[blockHead:]
	h := blockHeader{b.kind, b.number, b.records, uint32(len(payload)), checksum(payload)}
	h.encode(b.buf)
	b.write(b.buf)
	b.number++
	b.buf, b.records = b.buf[:blockHead], 0
}

// close writes the end block.
func (b *streamWriter) close() error {
	b.end()
	b.kind = endBlock
	le := binary.LittleEndian
	b.buf = le.AppendUint64(b.buf, uint64(b.stats.Entries))
	b.buf = le.AppendUint64(b.buf, uint64(b.stats.Deletions))
	b.buf = le.AppendUint64(b.buf, uint64(b.payload))
	b.emit()
	return b.err
}
