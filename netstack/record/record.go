package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// HeaderSize is the size of a record's header without a timestamp, in bytes.
	HeaderSize = 8
	// TimeSize is what a timestamp adds, in bytes.
	TimeSize = 8
	// MaxPayload is the largest payload, in bytes (256 MiB - 1).
	MaxPayload = 1<<28 - 1

	align     = 8
	timeBit   = 1 << 28
	kindShift = 29
)

// Kind says what a record is.
type Kind uint8

// The kinds of records. A watermark's payload is its time (i64); a status's one
// byte, 1 for idle; a latency marker's is opaque.
const (
	Data Kind = iota
	Watermark
	Status
	Marker
	kinds // number of kinds; more are damage
)

// ErrCorrupt is returned for bytes that no writer of this package produced.
var ErrCorrupt = errors.New("record: corrupt bytes")

// Record is one record as a view into a buffer: Payload is valid only as long as
// that buffer is held.
type Record struct {
	Kind    Kind
	HasTime bool
	Hash    uint32
	Time    int64 // event time, Unix milliseconds; 0 unless HasTime
	Payload []byte
}

// Offset is where the payload starts, counted from the record's first byte.
func Offset(hasTime bool) int {
	if hasTime {
		return HeaderSize + TimeSize
	}
	return HeaderSize
}

// Size is the padded size of a record in bytes.
func Size(payload int, hasTime bool) int {
	return (Offset(hasTime) + payload + align - 1) &^ (align - 1)
}

// Seal writes the header and padding of a record whose payload of n bytes is in
// place already at dst[Offset(hasTime):]. dst must have room for Size bytes; it
// returns that size. It lends dst.
func Seal(dst []byte, kind Kind, hash uint32, hasTime bool, time int64, n int) int {
	word := uint32(n) | uint32(kind)<<kindShift
	size := Size(n, hasTime)
	// The padding goes first: it may only overwrite what the payload does not.
	binary.LittleEndian.PutUint64(dst[size-align:], tail(dst[size-align:size], size-align, Offset(hasTime)+n))
	if hasTime {
		word |= timeBit
		binary.LittleEndian.PutUint64(dst[HeaderSize:], uint64(time))
	}
	binary.LittleEndian.PutUint64(dst, uint64(hash)<<32|uint64(word))
	return size
}

// tail is the record's last 8 bytes with everything from byte end on cleared, so
// that no bytes of an earlier record leak into what is sent or stored.
func tail(last []byte, start, end int) uint64 {
	keep := uint(end-start) * 8
	word := binary.LittleEndian.Uint64(last)
	if keep >= 64 {
		return word
	}
	return word & (1<<keep - 1)
}

// Append appends a whole record to dst.
func Append(dst []byte, r Record) []byte {
	start := len(dst)
	n := Size(len(r.Payload), r.HasTime)
	for len(dst) < start+n {
		dst = append(dst, 0)
	}
	b := dst[start:]
	copy(b[Offset(r.HasTime):], r.Payload)
	Seal(b, r.Kind, r.Hash, r.HasTime, r.Time, len(r.Payload))
	return dst
}

// Iterator walks over the records of one buffer. It lends the buffer; copy the
// Iterator to remember a position.
type Iterator struct {
	b []byte
}

// Over returns an iterator over b, which holds whole records.
func Over(b []byte) Iterator { return Iterator{b: b} }

// Rest is the number of bytes not yet read.
func (it *Iterator) Rest() int { return len(it.b) }

// Next reads one record into r. It returns false at the end, or with an error for
// bytes that cannot be a record.
func (it *Iterator) Next(r *Record) (bool, error) {
	b := it.b
	if len(b) < HeaderSize {
		return false, it.end()
	}
	head := binary.LittleEndian.Uint64(b)
	word := uint32(head)
	n, off := int(word&MaxPayload), HeaderSize
	r.HasTime, r.Time = false, 0
	if word&timeBit != 0 {
		if len(b) < HeaderSize+TimeSize {
			return false, it.corrupt(n)
		}
		off += TimeSize
		r.HasTime, r.Time = true, int64(binary.LittleEndian.Uint64(b[HeaderSize:]))
	}
	size := (off + n + align - 1) &^ (align - 1)
	r.Kind = Kind(word >> kindShift)
	if size > len(b) || r.Kind >= kinds {
		return false, it.corrupt(n)
	}
	r.Hash = uint32(head >> 32)
	r.Payload = b[off : off+n : off+n]
	it.b = b[size:]
	return true, nil
}

func (it *Iterator) end() error {
	if len(it.b) == 0 {
		return nil
	}
	return it.corrupt(0)
}

func (it *Iterator) corrupt(n int) error {
	return fmt.Errorf("%w: a record of %d bytes with %d bytes left in the buffer", ErrCorrupt, n, len(it.b))
}
