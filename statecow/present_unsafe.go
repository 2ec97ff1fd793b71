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

// quickRun is quick for a run of keys of one length.
func (m *Map) quickRun(hashes []uint32, keys []byte, n int, values []unsafe.Pointer) (found int) {
	if len(hashes) == 0 {
		return 0
	}
	size := len(keys) / len(hashes)
	if m.layout.fixed || size >= shortKey || n >= shortValue || m.log.owed > 0 || m.unchecked > 0 || m.expiry != nil {
		return 0
	}
	head, last := uint64(n)<<32|uint64(size)<<56, address(0)
	values = values[:len(hashes)]
	for i, hash := range hashes {
		_, a := m.index.probe(hash)
		if a == 0 || !m.mutable(a) {
			break
		}
		p := m.pointer(a)
		if *(*uint64)(p) != head|uint64(hash) {
			break
		}
		at := unsafe.Add(p, unit+n)
		if size == 8 {
			if [8]byte(keys[8*i:]) != *(*[8]byte)(at) {
				break
			}
		} else if !bytes.Equal(unsafe.Slice((*byte)(at), size), keys[i*size:][:size]) {
			break
		}
		m.check(a)
		values[i] = unsafe.Add(p, unit)
		last, found = a, i+1
	}
	if found > 0 {
		m.clean.written = last
	}
	return found
}
