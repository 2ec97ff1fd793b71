package statecow

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ListState is a list of V for each key and namespace. Elements lie in chunks: the
// first in the key's own entry, with the number of others, so that a short list is
// one entry and adding to a long one touches two. A chunk is
//
//	| bytes used u32 | elements: length uvarint, bytes | unused |
//
// whose unused rest lets elements be added in place. With a time to live, a chunk
// lives as long as its youngest element, the first as long as the list.
type ListState[V any] struct {
	*state
	codec Codec[V]

	elem []byte // scratch: the element being added
	add  func([]byte, bool) ([]byte, bool)
	full bool   // what add found: no room
	last uint32 // chunks besides the first, as add found
	head bool   // add is at the first chunk
}

const (
	smallChunk = 32   // bytes of a new chunk's elements
	largeChunk = 2048 // bytes up to which a chunk grows
)

var errDamagedList = errors.New("statecow: list is damaged: it was stored by another state")

// NewListState registers a state.
func NewListState[V any](s *States, name string, codec Codec[V], ttl TTL) (*ListState[V], error) {
	var zero V
	st, err := s.register(name, fmt.Sprintf("ListState[%T]", zero), ttl, codec.Fingerprint())
	if err != nil {
		return nil, err
	}
	l := &ListState[V]{state: st, codec: codec}
	l.add = l.extend
	return l, nil
}

// Add appends v to the list of the current key.
func (l *ListState[V]) Add(v V) error {
	const room = binary.MaxVarintLen64
	l.elem = l.codec.Append(append(l.elem[:0], make([]byte, room)...), v)
	var n [room]byte
	length := binary.PutUvarint(n[:], uint64(len(l.elem)-room))
	l.elem = append(l.elem[:0], l.elem[room-length:]...)
	copy(l.elem, n[:length])
	if err := l.addTo(true, l.main()); err != nil || !l.full {
		return err
	}
	if l.last > 0 {
		if err := l.addTo(false, l.numbered(l.last)); err != nil || !l.full {
			return err
		}
	}
	if err := l.setChunks(l.last + 1); err != nil {
		return err
	}
	return l.addTo(false, l.numbered(l.last+1))
}

func (l *ListState[V]) addTo(head bool, hash uint32) error {
	l.head, l.full = head, false
	return l.of.store.Update(hash, l.path, l.add)
}

// extend adds the element to a chunk, or says that it is full.
func (l *ListState[V]) extend(stored []byte, found bool) ([]byte, bool) {
	var old []byte
	if found {
		old, found = l.strip(stored)
	}
	b := l.begin()
	skip := len(b)
	if l.head {
		chunks := []byte{0, 0, 0, 0}
		if found {
			chunks, old = old[:4], old[4:]
		}
		l.last = binary.LittleEndian.Uint32(chunks)
		b = append(b, chunks...)
	}
	used := 0
	if found {
		used = int(binary.LittleEndian.Uint32(old))
		old = old[4:]
	}
	capacity := max(len(old), smallChunk)
	for capacity < used+len(l.elem) && (capacity < largeChunk || used == 0) {
		capacity *= 2
	}
	if l.full = capacity < used+len(l.elem) || l.head && l.last > 0; l.full {
		if skip == 0 {
			return stored, true
		}
		l.body = append(b[:skip], stored[skip:]...) // it lives on with its youngest
		return l.body, true
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(used+len(l.elem)))
	b = append(b, old[:used]...)
	b = append(b, l.elem...)
	l.body = append(b, make([]byte, capacity-used-len(l.elem))...)
	return l.body, true
}

// setChunks changes the number of chunks.
func (l *ListState[V]) setChunks(n uint32) error {
	hash := l.main()
	stored, ok, err := l.of.store.Get(hash, l.path)
	if err != nil || !ok {
		return err
	}
	l.body = append(l.body[:0], stored...)
	at := 0
	if l.ttl.After > 0 {
		at = 8
	}
	binary.LittleEndian.PutUint32(l.body[at:], n)
	return l.put(hash)
}

// Each lends the elements of the current key's list to f, in order, until f
// returns false. f must not use the store.
func (l *ListState[V]) Each(f func(V) bool) error {
	first, ok, err := l.get(l.main())
	if err != nil || !ok {
		return err
	}
	chunks := binary.LittleEndian.Uint32(first)
	more, err := l.elements(first[4:], f)
	for i := uint32(1); more && err == nil && i <= chunks; i++ {
		var b []byte
		if b, ok, err = l.get(l.numbered(i)); err == nil && ok {
			more, err = l.elements(b, f)
		}
	}
	return err
}

// elements lends those of one chunk and reports whether f wants more.
func (l *ListState[V]) elements(chunk []byte, f func(V) bool) (bool, error) {
	used := int(binary.LittleEndian.Uint32(chunk))
	if used > len(chunk)-4 {
		return false, errDamagedList
	}
	for b := chunk[4 : 4+used]; len(b) > 0; {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return false, errDamagedList
		}
		v, err := l.codec.Decode(b[k : k+int(n)])
		if err != nil || !f(v) {
			return false, err
		}
		b = b[k+int(n):]
	}
	return true, nil
}

// Clear forgets the list of the current key.
func (l *ListState[V]) Clear() error {
	hash := l.main()
	stored, ok, err := l.of.store.Get(hash, l.path)
	if err != nil || !ok {
		return err
	}
	if l.ttl.After > 0 {
		stored = stored[8:]
	}
	chunks := binary.LittleEndian.Uint32(stored)
	err = l.remove(hash)
	for i := uint32(1); err == nil && i <= chunks; i++ {
		err = l.remove(l.numbered(i))
	}
	return err
}
