package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

// Word is the lower half of the header, as a little-endian number, of a record with a
// payload of n bytes; the upper half is the hash.
func Word(kind Kind, n int, hasTime bool) uint32 {
	word := uint32(n) | uint32(kind)<<kindShift
	if hasTime {
		word |= timeBit
	}
	return word
}

// Seal writes the header and padding of a record whose payload of n bytes is in
// place already at dst[Offset(hasTime):]. dst must have room for Size bytes; it
// returns that size. It may clear up to 8 bytes of dst behind the record. It lends
// dst.
func Seal(dst []byte, kind Kind, hash uint32, hasTime bool, time int64, n int) int {
	word, end := uint32(n)|uint32(kind)<<kindShift, HeaderSize+n
	if hasTime {
		word |= timeBit
		end += TimeSize
		binary.LittleEndian.PutUint64(dst[HeaderSize:], uint64(time))
	}
	binary.LittleEndian.PutUint64(dst, uint64(hash)<<32|uint64(word))
	size := (end + align - 1) &^ (align - 1)
	pad(dst, end, size)
	return size
}

// pad clears dst[end:size], so that no bytes of an earlier record leak into what is
// sent or stored. One store without a branch on the size does it nearly always.
func pad(dst []byte, end, size int) {
	if end+align <= len(dst) {
		binary.LittleEndian.PutUint64(dst[end:], 0)
		return
	}
	clear(dst[end:size])
}

// Append appends a whole record to dst.
func Append(dst []byte, r Record) []byte {
	start, n := len(dst), Size(len(r.Payload), r.HasTime)
	dst = slices.Grow(dst, n)[:start+n]
	b := dst[start:]
	copy(b[Offset(r.HasTime):], r.Payload)
	Seal(b, r.Kind, r.Hash, r.HasTime, r.Time, len(r.Payload))
	return dst
}

// Iterator walks over the records of one buffer. It lends the buffer; copy the
// Iterator to remember a position.
type Iterator struct {
	b  []byte
	at int
}

// Over returns an iterator over b, which holds whole records.
func Over(b []byte) Iterator { return Iterator{b: b} }

// Rest is the number of bytes not yet read.
func (it *Iterator) Rest() int { return len(it.b) - it.at }

// Remaining lends the bytes not yet read: whole records.
func (it *Iterator) Remaining() []byte { return it.Tail(it.Rest()) }

// Tail lends the last n bytes.
func (it *Iterator) Tail(n int) []byte { return it.b[len(it.b)-n:] }

// Skip moves on by n bytes: whole records.
func (it *Iterator) Skip(n int) { it.at += n }

// Data reports whether the next record, if there is one, is a data record.
func (it *Iterator) Data() bool {
	at := it.at + HeaderSize/2 - 1 // the byte with the kind
	return at < len(it.b) && Kind(it.b[at]>>(kindShift%8)) == Data
}

// Next reads one record into r. It returns false at the end, or with an error for
// bytes that cannot be a record.
func (it *Iterator) Next(r *Record) (bool, error) {
	b, at := it.b, it.at
	start := at + HeaderSize
	if uint(start) > uint(len(b)) {
		return false, it.end()
	}
	head := binary.LittleEndian.Uint64(b[at:start])
	word := uint32(head)
	time := int64(0)
	if word&timeBit != 0 {
		start += TimeSize
		if uint(start) > uint(len(b)) {
			return false, it.corrupt()
		}
		time = int64(binary.LittleEndian.Uint64(b[start-TimeSize : start]))
	}
	end := start + int(word&MaxPayload)
	next := (end + align - 1) &^ (align - 1)
	if uint(next) > uint(len(b)) || Kind(word>>kindShift) >= kinds {
		return false, it.corrupt()
	}
	it.at = next
	r.Kind, r.HasTime, r.Hash, r.Time = Kind(word>>kindShift), word&timeBit != 0, uint32(head>>32), time
	r.Payload = b[start:end:end]
	return true, nil
}

func (it *Iterator) end() error {
	if it.Rest() == 0 {
		return nil
	}
	return it.corrupt()
}

func (it *Iterator) corrupt() error {
	head := it.b[it.at:min(len(it.b), it.at+HeaderSize)]
	return fmt.Errorf("%w: no record begins with % x at byte %d of %d", ErrCorrupt, head, it.at, len(it.b))
}
