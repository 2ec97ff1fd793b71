package statecow

import (
	"encoding/binary"
	"hash/crc32"
)

// The sizes and kinds of the format in doc.go.
const (
	formatVersion = 1
	headerSize    = 64
	blockHead     = 24
	blockTarget   = 256 << 10                            // payload after which a block ends
	maxBlock      = blockTarget + maxKey + maxValue + 64 // payload
	endSize       = 24

	putBlock    = 'P'
	deleteBlock = 'D'
	endBlock    = 'E'
)

const formatMagic = "OTSTATE\x00"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// streamHeader begins a written snapshot.
type streamHeader struct {
	fixed              bool
	keySize, valueSize int
	valueOff, stride   int
	since, mark        Mark
	entries            int // about how many keys all of the state has; a hint
}

func (h *streamHeader) append(dst []byte) []byte {
	start := len(dst)
	le := binary.LittleEndian
	dst = append(dst, formatMagic...)
	dst = le.AppendUint16(dst, formatVersion)
	var flags uint16
	if h.fixed {
		flags = 1
	}
	dst = le.AppendUint16(dst, flags)
	for _, n := range []int{h.keySize, h.valueSize, h.valueOff, h.stride} {
		dst = le.AppendUint32(dst, uint32(n))
	}
	dst = le.AppendUint64(dst, uint64(h.since))
	dst = le.AppendUint64(dst, uint64(h.mark))
	dst = le.AppendUint64(dst, uint64(h.entries))
	dst = append(dst, make([]byte, headerSize-4-(len(dst)-start))...)
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// parse reads a header of headerSize bytes; it returns what is wrong, if anything.
func (h *streamHeader) parse(b []byte) string {
	le := binary.LittleEndian
	if string(b[:8]) != formatMagic {
		return "not a snapshot of keyed state"
	}
	if le.Uint32(b[headerSize-4:]) != crc32.Checksum(b[:headerSize-4], castagnoli) {
		return "checksum of the stream header differs"
	}
	if v := le.Uint16(b[8:]); v != formatVersion {
		return "unknown format version"
	}
	h.fixed = le.Uint16(b[10:])&1 != 0
	for i, p := range []*int{&h.keySize, &h.valueSize, &h.valueOff, &h.stride} {
		*p = int(le.Uint32(b[12+4*i:]))
	}
	h.since, h.mark = Mark(le.Uint64(b[28:])), Mark(le.Uint64(b[36:]))
	h.entries = int(le.Uint64(b[44:]) & (1<<40 - 1))
	return ""
}

func (h *streamHeader) layout() layout {
	return layout{fixed: h.fixed, keySize: h.keySize, valueSize: h.valueSize, valueOff: h.valueOff, stride: h.stride}
}

// blockHeader begins a block.
type blockHeader struct {
	kind    byte
	number  uint32 // of the block in its stream, from 0
	records uint32
	length  uint32 // of the payload
	crc     uint32 // of the payload
}

// encode writes the header to the first blockHead bytes of dst.
func (h *blockHeader) encode(dst []byte) {
	le := binary.LittleEndian
	le.PutUint32(dst, uint32(h.kind))
	le.PutUint32(dst[4:], h.number)
	le.PutUint32(dst[8:], h.records)
	le.PutUint32(dst[12:], h.length)
	le.PutUint32(dst[16:], h.crc)
	le.PutUint32(dst[20:], crc32.Checksum(dst[:20], castagnoli))
}

// parse reads the header; it returns what is wrong, if anything.
func (h *blockHeader) parse(b []byte, number uint32) string {
	le := binary.LittleEndian
	if le.Uint32(b[20:]) != crc32.Checksum(b[:20], castagnoli) {
		return "checksum of a block header differs"
	}
	*h = blockHeader{b[0], le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])}
	switch {
	case h.number != number:
		return "a block is missing, doubled or out of order"
	case h.kind != putBlock && h.kind != deleteBlock && h.kind != endBlock:
		return "unknown kind of block"
	case h.length > maxBlock || h.kind == endBlock && h.length != endSize:
		return "length of a block is out of bounds"
	}
	return ""
}
