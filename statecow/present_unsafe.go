package statecow

import (
	"bytes"
	"unsafe"
)

// Present lends the values of the first of some keys, for change in place until the next other
// operation: as many as are there and quick to find, which it returns. keys are their
// encodings, all of one length, one behind the other. Upsert finds the next one. It lends
// hashes and keys.
func (t *Table[V]) Present(hashes []uint32, keys []byte, values []*V) int {
	at := unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
	return t.m.quickRun(hashes, keys, t.size, at)
}

// quickRun is quick for a run of keys of one length. It probes for some of them and then looks
// at the entries of these, so that the processor waits for all at once where they are not in
// the cache.
func (m *Map) quickRun(hashes []uint32, keys []byte, n int, values []unsafe.Pointer) (found int) {
	if len(hashes) == 0 {
		return 0
	}
	size := len(keys) / len(hashes)
	if m.layout.fixed || size >= shortKey || n >= shortValue || m.log.owed > 0 || m.unchecked > 0 || m.expiry != nil {
		return 0
	}
	var place [probes]address
	for found < len(hashes) {
		some := hashes[found:min(len(hashes), found+probes)]
		at := place[:len(some)]
		m.index.probeRun(some, at)
		k := m.same(at, some, keys[found*size:], size, n, values[found:])
		if found += k; k > 0 {
			m.clean.written = at[k-1]
		}
		if k < len(some) {
			break
		}
	}
	return found
}

// same counts the first of some entries that have these hashes and keys, and n bytes of value
// that may be changed in place. It returns where their values are.
func (m *Map) same(at []address, hashes []uint32, keys []byte, size, n int, values []unsafe.Pointer) int {
	head, first, off := uint64(n)<<32|uint64(size)<<56, unsafe.Pointer(unsafe.SliceData(keys)), 0
	hashes, values = hashes[:len(at)], values[:len(at)]
	for i, a := range at {
		if a == 0 || !m.mutable(a) {
			return i
		}
		p := m.pointer(a)
		value := unsafe.Add(p, unit)
		if *(*uint64)(p) != head|uint64(hashes[i]) || !equal(unsafe.Add(value, n), unsafe.Add(first, off), size) {
			return i
		}
		m.check(a)
		values[i] = value
		off += size
	}
	return len(at)
}

// equal compares two keys.
func equal(a, b unsafe.Pointer, size int) bool {
	if size == 8 {
		return *(*uint64)(a) == *(*uint64)(b)
	}
	return bytes.Equal(unsafe.Slice((*byte)(a), size), unsafe.Slice((*byte)(b), size))
}
