package statecow

import (
	"bytes"
	"fmt"
	"unsafe"
)

// unit is the granularity of addresses and marks: entries begin at multiples of
// it and take at least two, so that each has two mark bits of its own.
const unit = 8

// address is the place of an entry in the log, in units; 0 is nowhere.
type address = uint32

// layout says how entries lie in the log.
//
// A variable layout puts a header before each entry, little-endian,
//
//	| hash u32 | value length 24 bits | key length 8 bits | value | key | pad |
//
// with key length 255 saying that both lengths follow as u32 each. The value
// comes first, so that it is aligned to 8 bytes. A fixed layout has no header: a
// key, padding, a value and padding up to the stride; the hash is computed from
// the key.
type layout struct {
	fixed     bool
	keySize   int
	valueOff  int
	valueSize int
	stride    int // bytes
	hash      func(key []byte) uint32

	strideUnits uint32 // stride in units
}

const (
	shortKey   = 255       // lengths below these fit the short header
	shortValue = 1<<24 - 1 //
	maxKey     = 1 << 20   // bytes
	maxValue   = 1 << 30   // bytes
)

func fixedLayout(keySize, keyAlign, valueSize, valueAlign int, hash func([]byte) uint32) layout {
	l := layout{fixed: true, keySize: keySize, valueSize: valueSize, hash: hash}
	l.valueOff = roundUp(keySize, max(valueAlign, 1))
	l.stride = max(2*unit, roundUp(l.valueOff+valueSize, unit))
	l.strideUnits = uint32(l.stride / unit)
	return l
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func (l *layout) String() string {
	if l.fixed {
		return fmt.Sprintf("fixed(key %d, value %d at %d, stride %d)", l.keySize, l.valueSize, l.valueOff, l.stride)
	}
	return "variable"
}

// check reports whether key and value fit.
func (l *layout) check(key, value int) error {
	if l.fixed && (key != l.keySize || value != l.valueSize) || key > maxKey || value > maxValue {
		return fmt.Errorf("%w: key of %d and value of %d bytes in layout %s", ErrSize, key, value, l)
	}
	return nil
}

// units is the size of an entry.
func (l *layout) units(key, value int) uint32 {
	if l.fixed {
		return l.strideUnits
	}
	n := unit + key + value
	if key >= shortKey || value >= shortValue {
		n += unit
	}
	return max(2, uint32((n+unit-1)/unit))
}

// view is an entry's parts. They are views into the log.
type view struct {
	hash  uint32
	units uint32
	key   []byte
	value []byte
}

// at reads the entry at p.
func (l *layout) at(p unsafe.Pointer) view {
	if l.fixed {
		key := unsafe.Slice((*byte)(p), l.keySize)
		return view{l.hash(key), l.strideUnits, key, unsafe.Slice((*byte)(unsafe.Add(p, l.valueOff)), l.valueSize)}
	}
	head, klen, vlen := lengths(p)
	return view{
		hash:  *(*uint32)(p),
		units: max(2, uint32(head+klen+vlen+unit-1)/unit),
		value: unsafe.Slice((*byte)(unsafe.Add(p, head)), vlen),
		key:   unsafe.Slice((*byte)(unsafe.Add(p, head+vlen)), klen),
	}
}

// lengths reads the header of an entry in a variable layout.
func lengths(p unsafe.Pointer) (head, klen, vlen int) {
	h := *(*uint64)(p)
	klen, vlen = int(h>>56), int(h>>32&shortValue)
	if klen < shortKey {
		return unit, klen, vlen
	}
	ext := *(*[2]uint32)(unsafe.Add(p, unit))
	return 2 * unit, int(ext[0]), int(ext[1])
}

// put writes an entry at p but for its value, which it shares: n bytes, their
// content undefined.
func (l *layout) put(p unsafe.Pointer, hash uint32, key []byte, n int) []byte {
	if l.fixed {
		clear(unsafe.Slice((*byte)(p), l.stride))
		copy(unsafe.Slice((*byte)(p), l.keySize), key)
		return unsafe.Slice((*byte)(unsafe.Add(p, l.valueOff)), n)
	}
	units := l.units(len(key), n)
	*(*uint64)(unsafe.Add(p, int(units-1)*unit)) = 0 // the padding
	head := unit
	if len(key) < shortKey && n < shortValue {
		*(*uint64)(p) = uint64(hash) | uint64(n)<<32 | uint64(len(key))<<56
	} else {
		head = 2 * unit
		*(*uint64)(p) = uint64(hash) | shortKey<<56
		*(*[2]uint32)(unsafe.Add(p, unit)) = [2]uint32{uint32(len(key)), uint32(n)}
	}
	copy(unsafe.Slice((*byte)(unsafe.Add(p, head+n)), len(key)), key)
	return unsafe.Slice((*byte)(unsafe.Add(p, head)), n)
}

// matches reports whether the entry at p has this key.
func (l *layout) matches(p unsafe.Pointer, key []byte) bool {
	if l.fixed {
		return bytes.Equal(unsafe.Slice((*byte)(p), l.keySize), key)
	}
	head, klen, vlen := lengths(p)
	return klen == len(key) && bytes.Equal(unsafe.Slice((*byte)(unsafe.Add(p, head+vlen)), klen), key)
}

// value shares the value of the entry at p.
func (l *layout) value(p unsafe.Pointer) []byte {
	if l.fixed {
		return unsafe.Slice((*byte)(unsafe.Add(p, l.valueOff)), l.valueSize)
	}
	head, _, vlen := lengths(p)
	return unsafe.Slice((*byte)(unsafe.Add(p, head)), vlen)
}

// size is the number of units of the entry at p.
func (l *layout) size(p unsafe.Pointer) uint32 {
	if l.fixed {
		return l.strideUnits
	}
	head, klen, vlen := lengths(p)
	return max(2, uint32(head+klen+vlen+unit-1)/unit)
}

// walk goes over entries from the one at p, which is at off, until one begins at end or
// behind. It returns the place of that one and how many came before it.
func (l *layout) walk(p unsafe.Pointer, off, end uint32) (next, n uint32) {
	if l.fixed {
		n = (end - off + l.strideUnits - 1) / l.strideUnits
		return off + n*l.strideUnits, n
	}
	for ; off < end; n++ {
		h := *(*uint64)(p)
		units := (uint32(h>>56) + uint32(h>>32&shortValue) + 2*unit - 1) / unit
		if h>>56 == shortKey || units < 2 {
			units = l.size(p)
		}
		off += units
		p = unsafe.Add(p, uintptr(units)*unit)
	}
	return off, n
}
