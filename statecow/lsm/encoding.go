package lsm

import (
	"encoding/binary"

	"github.com/overtake-stream/overtake/statecow"
)

// The first byte of a key: what it is.
const (
	dataSpace = 'd'
	tombSpace = 't'
)

const (
	dataHead = 1 + 4     // before the key of an entry
	tombHead = 1 + 8 + 4 // before the key of a deletion's record
	maxKey   = 1 << 20   // bytes, as in a statecow.Map
	maxValue = 1 << 30
)

// appendData appends the key of an entry.
func appendData(dst []byte, hash uint32, key []byte) []byte {
	return append(appendBound(dst, uint64(hash)), key...)
}

// appendBound appends the first key of the entries with hash h and above, up to
// 1<<32.
func appendBound(dst []byte, h uint64) []byte {
	if h >= 1<<32 {
		return append(dst, dataSpace+1)
	}
	return binary.BigEndian.AppendUint32(append(dst, dataSpace), uint32(h))
}

// splitData is the inverse of appendData.
func splitData(k []byte) (hash uint32, key []byte, ok bool) {
	if len(k) < dataHead || k[0] != dataSpace {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(k[1:]), k[dataHead:], true
}

// appendTomb appends the key of the record of a deletion.
func appendTomb(dst []byte, mark statecow.Mark, hash uint32, key []byte) []byte {
	dst = appendTombBound(dst, mark)
	return append(binary.BigEndian.AppendUint32(dst, hash), key...)
}

// appendTombBound appends the first key of the records of a mark.
func appendTombBound(dst []byte, mark statecow.Mark) []byte {
	dst = append(dst, tombSpace)
	return binary.BigEndian.AppendUint64(dst, uint64(mark))
}

func splitTomb(k []byte) (hash uint32, key []byte, ok bool) {
	if len(k) < tombHead || k[0] != tombSpace {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(k[9:]), k[tombHead:], true
}

// appendValue appends a value with its mark.
func appendValue(dst []byte, mark statecow.Mark, value []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(mark)), value...)
}

// splitValue is the inverse of appendValue; value is a view into v, never nil.
func splitValue(v []byte) (mark statecow.Mark, value []byte, ok bool) {
	m, n := binary.Uvarint(v)
	if n <= 0 {
		return 0, nil, false
	}
	return statecow.Mark(m), v[n:], true
}
