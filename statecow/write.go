package statecow

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Write implements Snapshot. A block leaves in one call of w.Write, which gets memory
// that is reused afterwards, or in two, the second of which gets a view of the log.
func (s *snapshot) Write(w io.Writer, since Mark) (WriteStats, error) {
	if err := s.usable(since); err != nil { // before anything is written
		return WriteStats{}, err
	}
	l := &s.log.layout
	b, _ := s.log.writers.Get().(*blockWriter)
	b = newBlockWriter(w, streamHeader{l.fixed, l.keySize, l.valueSize, l.valueOff, l.stride, since, s.mark, s.keys}, b)
	defer s.log.writers.Put(b)
	err := s.parts(since, func(p part) error { return s.writePart(b, p) })
	if err == nil {
		err = b.close()
	}
	return b.stats, err
}

// writePart copies runs of wanted entries as they lie in the log.
func (s *snapshot) writePart(b *blockWriter, p part) error {
	if l := &s.log.layout; l.fixed && l.strideUnits == pairUnits {
		s.writePairs(b, p)
	} else {
		s.writeRuns(b, p)
	}
	return b.err
}

// writeRuns reads the size of every entry, and its state where not all entries around it
// live.
func (s *snapshot) writeRuns(b *blockWriter, p part) {
	l := s.log
	run, records := p.from, uint32(0)
	flush := func(end, next uint32) {
		if records > 0 {
			b.put(l.bytesAt(p.address(l, run), end-run), records)
		}
		run, records = next, 0
	}
	for off := p.from; off < p.to; {
		if end := min(p.to, off&^(wordUnits-1)+wordUnits); p.marks.allLive(off) {
			next, n := l.layout.walk(l.pointer(p.address(l, off)), off, end)
			if off, records = next, records+n; (off-run)*unit >= blockTarget/2 {
				flush(off, off)
			}
			continue
		}
		units := l.layout.size(l.pointer(p.address(l, off)))
		st := p.marks.get(off)
		off += units
		if st == live || st == fresh {
			if records++; (off-run)*unit >= blockTarget/2 {
				flush(off, off)
			}
			continue
		}
		flush(off-units, off)
		if st == tombstone && p.deletes {
			e := l.layout.at(l.pointer(p.address(l, off-units)))
			b.add(deleteBlock, e.hash, e.key, nil)
		}
	}
	flush(p.to, p.to)
}

// blockWriter gathers records of one kind and writes them as blocks.
type blockWriter struct {
	w       io.Writer
	buf     []byte // blockHead bytes, then the payload
	kind    byte
	number  uint32
	records uint32
	payload int64
	stats   WriteStats
	err     error
}

// newBlockWriter returns a writer that has begun a stream. It takes over the memory of
// one that has ended, if there is one.
func newBlockWriter(w io.Writer, h streamHeader, old *blockWriter) *blockWriter {
	b := &blockWriter{w: w}
	if old != nil && cap(old.buf) <= 2*blockTarget { // not what a large entry has made of it
		b.buf = old.buf[:blockHead]
	} else {
		b.buf = make([]byte, blockHead, blockHead+blockTarget+4096)
	}
	b.write(h.append(nil))
	return b
}

func (b *blockWriter) write(p []byte) {
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

// put adds entries as they lie in the log.
func (b *blockWriter) put(entries []byte, records uint32) {
	if len(entries) >= straight {
		b.putStraight(entries, records)
		return
	}
	b.begin(putBlock, len(entries))
	b.buf = append(b.buf, entries...)
	b.records += records
	b.stats.Entries += int64(records)
}

// straight is the size from which entries are worth a block of their own, which is
// written from where they are: a copy would cost more than the second call.
const straight = 64 << 10

// putStraight writes entries as a block without copying them.
func (b *blockWriter) putStraight(entries []byte, records uint32) {
	b.end()
	h := blockHeader{putBlock, b.number, records, uint32(len(entries)), crc32.Checksum(entries, castagnoli)}
	h.encode(b.buf)
	b.write(b.buf[:blockHead])
	b.write(entries)
	b.number++
	b.payload += int64(len(entries))
	b.stats.Entries += int64(records)
}

// add adds an entry of the variable layout. Deletions, of any map, are such entries,
// without a value.
func (b *blockWriter) add(kind byte, hash uint32, key, value []byte) {
	var l layout
	size := int(l.units(len(key), len(value))) * unit
	b.begin(kind, size)
	at := len(b.buf)
	b.buf = append(b.buf, make([]byte, size)...)
	l.putBytes(b.buf[at:], hash, key, value)
	b.records++
	if kind == deleteBlock {
		b.stats.Deletions++
	} else {
		b.stats.Entries++
	}
}

// begin makes sure that a record of n bytes may be added to a block of its kind.
func (b *blockWriter) begin(kind byte, n int) {
	if b.kind != kind || len(b.buf)-blockHead+n > blockTarget {
		b.end()
		b.kind = kind
	}
}

// end writes the block.
func (b *blockWriter) end() {
	if b.records == 0 {
		return
	}
	b.payload += int64(len(b.buf) - blockHead)
	b.emit()
}

func (b *blockWriter) emit() {
	payload := b.buf[blockHead:]
	h := blockHeader{b.kind, b.number, b.records, uint32(len(payload)), crc32.Checksum(payload, castagnoli)}
	h.encode(b.buf)
	b.write(b.buf)
	b.number++
	b.buf, b.records = b.buf[:blockHead], 0
}

// close writes the end block.
func (b *blockWriter) close() error {
	b.end()
	b.kind = endBlock
	le := binary.LittleEndian
	b.buf = le.AppendUint64(b.buf, uint64(b.stats.Entries))
	b.buf = le.AppendUint64(b.buf, uint64(b.stats.Deletions))
	b.buf = le.AppendUint64(b.buf, uint64(b.payload))
	b.emit()
	return b.err
}
