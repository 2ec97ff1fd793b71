package lsm

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/overtake-stream/overtake/statecow"
)

// The format of a written snapshot, as package statecow documents it, in its
// variable layout.
const (
	formatMagic   = "OTSTATE\x00"
	formatVersion = 1
	headerSize    = 64
	blockHead     = 24
	blockTarget   = 256 << 10
	maxBlock      = blockTarget + maxKey + maxValue + 64
	endSize       = 24

	putBlock    = 'P'
	deleteBlock = 'D'
	endBlock    = 'E'

	align      = 8         // of entries
	minEntry   = 2 * align // bytes
	shortKey   = 255       // lengths below these fit the short header
	shortValue = 1<<24 - 1 //
)

func checksum(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

// streamHeader begins a written snapshot.
type streamHeader struct {
	since, mark statecow.Mark
	entries     int    // about how many follow; a hint
	fixed       string // the layout, if it is not variable
}

func (h *streamHeader) append(dst []byte) []byte {
	start, le := len(dst), binary.LittleEndian
	dst = append(dst, formatMagic...)
	dst = le.AppendUint16(dst, formatVersion)
	dst = append(dst, make([]byte, 2+4*4)...)
	dst = le.AppendUint64(dst, uint64(h.since))
	dst = le.AppendUint64(dst, uint64(h.mark))
	dst = le.AppendUint64(dst, uint64(h.entries))
	dst = append(dst, make([]byte, headerSize-4-(len(dst)-start))...)
	return le.AppendUint32(dst, checksum(dst[start:]))
}

// parse reads a header of headerSize bytes; it returns what is wrong, if anything.
func (h *streamHeader) parse(b []byte) string {
	le := binary.LittleEndian
	switch {
	case string(b[:8]) != formatMagic:
		return "not a snapshot of keyed state"
	case le.Uint32(b[headerSize-4:]) != checksum(b[:headerSize-4]):
		return "checksum of the stream header differs"
	case le.Uint16(b[8:]) != formatVersion:
		return "unknown format version"
	}
	if le.Uint16(b[10:])&1 != 0 {
		h.fixed = fmt.Sprintf("fixed(key %d, value %d at %d, stride %d)", le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:]))
	}
	h.since, h.mark = statecow.Mark(le.Uint64(b[28:])), statecow.Mark(le.Uint64(b[36:]))
	h.entries = int(le.Uint64(b[44:]) & (1<<40 - 1))
	return ""
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
	le.PutUint32(dst[20:], checksum(dst[:20]))
}

// parse reads the header; it returns what is wrong, if anything.
func (h *blockHeader) parse(b []byte, number uint32) string {
	le := binary.LittleEndian
	if le.Uint32(b[20:]) != checksum(b[:20]) {
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

// entrySize is the size of an entry in a block.
func entrySize(key, value int) int {
	n := align + key + value
	if key >= shortKey || value >= shortValue {
		n += align
	}
	return max(minEntry, (n+align-1)/align*align)
}

// appendEntry appends an entry as it lies in a block.
func appendEntry(dst []byte, hash uint32, key, value []byte) []byte {
	start, le := len(dst), binary.LittleEndian
	if len(key) < shortKey && len(value) < shortValue {
		dst = le.AppendUint64(dst, uint64(hash)|uint64(len(value))<<32|uint64(len(key))<<56)
	} else {
		dst = le.AppendUint64(dst, uint64(hash)|shortKey<<56)
		dst = le.AppendUint32(dst, uint32(len(key)))
		dst = le.AppendUint32(dst, uint32(len(value)))
	}
	dst = append(append(dst, value...), key...)
	var zero [minEntry]byte
	return append(dst, zero[:entrySize(len(key), len(value))-(len(dst)-start)]...)
}

// decodeEntry reads the entry at the start of b and returns its size; 0 if it does
// not fit.
func decodeEntry(b []byte) (e statecow.Entry, size int) {
	le := binary.LittleEndian
	if len(b) < minEntry {
		return e, 0
	}
	h := le.Uint64(b)
	head, key, value := align, int(h>>56), int(h>>32&shortValue)
	if key >= shortKey {
		head, key, value = 2*align, int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
	}
	if key > maxKey || value > maxValue {
		return e, 0
	}
	size = max(minEntry, (head+key+value+align-1)/align*align)
	if size > len(b) {
		return e, 0
	}
	end := head + value
	return statecow.Entry{Hash: uint32(h), Value: b[head:end:end], Key: b[end : end+key : end+key]}, size
}
