package statecow

import (
	"bytes"
	"unsafe"
)

// quick is Upsert where that is cheap: the key is where it is looked for first, its
// value has n bytes and may be changed in place, and no work is due. It returns the value,
// or nil where only Upsert will do. It lends key.
func (m *Map) quick(hash uint32, key []byte, n int) unsafe.Pointer {
	if m.layout.fixed || len(key) >= shortKey || n >= shortValue || m.log.owed > 0 || m.unchecked > 0 || m.expiry != nil {
		return nil
	}
	_, a := m.index.probe(hash)
	if a == 0 || !m.mutable(a) {
		return nil
	}
	p := m.pointer(a)
	if *(*uint64)(p) != uint64(hash)|uint64(n)<<32|uint64(len(key))<<56 {
		return nil
	}
	if at := unsafe.Add(p, unit+n); len(key) == 8 {
		if [8]byte(key) != *(*[8]byte)(at) {
			return nil
		}
	} else if !bytes.Equal(unsafe.Slice((*byte)(at), len(key)), key) {
		return nil
	}
	m.check(a)
	m.clean.written = a
	return unsafe.Add(p, unit)
}
