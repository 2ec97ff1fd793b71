package statecow

import (
	"encoding/binary"
	"fmt"
)

// MapState is a map from K to V for each key and namespace. A pair is an entry of
// its own, with the number of its slot; slots hold the keys of the pairs, so that
// they can be iterated, and the key's own entry counts them. Changing a pair
// touches one entry, adding or deleting one a fixed number.
//
// With a time to live, every pair has its own deadline. A pair that expires leaves
// a hole in the slots, which Each closes once there are more holes than pairs.
type MapState[K, V any] struct {
	*state
	keys   Codec[K]
	values Codec[V]
	key    []byte // scratch: a pair's key
	moved  []byte // scratch: the key of a pair that changes its slot
}

// NewMapState registers a state.
func NewMapState[K, V any](s *States, name string, keys Codec[K], values Codec[V], ttl TTL) (*MapState[K, V], error) {
	var k K
	var v V
	st, err := s.register(name, fmt.Sprintf("MapState[%T,%T]", k, v), ttl, keys.Fingerprint(), values.Fingerprint())
	if err != nil {
		return nil, err
	}
	return &MapState[K, V]{state: st, keys: keys, values: values}, nil
}

// Get returns the value of k in the map of the current key.
func (m *MapState[K, V]) Get(k K) (v V, ok bool, err error) {
	b, ok, err := m.read(k)
	if err != nil || !ok {
		return v, false, err
	}
	v, err = m.values.Decode(b)
	return v, err == nil, err
}

// Has reports whether k is in the map of the current key.
func (m *MapState[K, V]) Has(k K) (bool, error) {
	_, ok, err := m.read(k)
	return ok, err
}

// read reads a pair. If that prolongs it, its slot and the count are prolonged too.
func (m *MapState[K, V]) read(k K) (value []byte, ok bool, err error) {
	m.key = m.keys.Append(m.key[:0], k)
	slot, b, ok, err := m.pair(m.key)
	if err != nil || !ok || m.ttl.After == 0 || !m.ttl.OnRead {
		return b, ok, err
	}
	if err := m.setSlot(slot, m.key); err != nil {
		return nil, false, err
	}
	if _, err := m.count(); err != nil {
		return nil, false, err
	}
	_, b, ok, err = m.pair(m.key)
	return b, ok, err
}

// Put stores the value of k.
func (m *MapState[K, V]) Put(k K, v V) error {
	m.key = m.keys.Append(m.key[:0], k)
	slot, _, ok, err := m.pair(m.key)
	if err != nil {
		return err
	}
	if !ok {
		if slot, err = m.count(); err != nil {
			return err
		}
	}
	if !ok || m.ttl.After > 0 { // the slot and the count live as long as the pair
		if err := m.setSlot(slot, m.key); err != nil {
			return err
		}
		n := slot + 1
		if ok {
			if n, err = m.count(); err != nil {
				return err
			}
		}
		if err := m.setCount(max(n, slot+1)); err != nil {
			return err
		}
	}
	m.body = binary.LittleEndian.AppendUint32(m.begin(), slot)
	m.body = m.values.Append(m.body, v)
	return m.put(m.part(entryPart, m.key))
}

// Delete removes k and reports whether it was there.
func (m *MapState[K, V]) Delete(k K) (bool, error) {
	m.key = m.keys.Append(m.key[:0], k)
	slot, _, ok, err := m.pair(m.key)
	if err != nil || !ok {
		return false, err
	}
	if err := m.remove(m.part(entryPart, m.key)); err != nil {
		return true, err
	}
	n, err := m.count()
	if err != nil || n == 0 {
		return true, err
	}
	if err := m.move(n-1, slot); err != nil {
		return true, err
	}
	return true, m.setCount(n - 1)
}

// move puts the pair of one slot in another, which is free, and frees its own.
func (m *MapState[K, V]) move(from, to uint32) error {
	if from != to {
		b, ok, err := m.get(m.numbered(from))
		if err != nil {
			return err
		}
		if !ok { // a hole moves
			if err := m.remove(m.numbered(to)); err != nil {
				return err
			}
			return m.remove(m.numbered(from))
		}
		m.moved = append(m.moved[:0], b...)
		if err := m.repoint(m.moved, to); err != nil {
			return err
		}
	}
	return m.remove(m.numbered(from))
}

// repoint stores another slot number in a pair, and the pair's key there, with the
// deadline that the pair has.
func (m *MapState[K, V]) repoint(key []byte, to uint32) error {
	hash := m.part(entryPart, key)
	stored, ok, err := m.of.store.Get(hash, m.path)
	if err != nil || !ok {
		return err
	}
	at := m.deadlineSize()
	m.body = append(m.body[:0], stored...)
	binary.LittleEndian.PutUint32(m.body[at:], to)
	if err := m.put(hash); err != nil {
		return err
	}
	m.body = append(m.body[:at], key...)
	return m.put(m.numbered(to))
}

// Each lends the pairs of the current key's map to f, in no particular order,
// until f returns false. f must not use the store.
func (m *MapState[K, V]) Each(f func(K, V) bool) error {
	n, err := m.count()
	holes := uint32(0)
	for i := uint32(0); err == nil && i < n; i++ {
		var b []byte
		var ok bool
		if b, ok, err = m.get(m.numbered(i)); err != nil {
			return err
		}
		if !ok {
			holes++
			continue
		}
		m.moved = append(m.moved[:0], b...)
		var more bool
		if more, ok, err = m.lend(m.moved, i, f); !more {
			return err
		}
		if !ok {
			holes++
		}
	}
	if err == nil && holes > n/2 {
		err = m.closeHoles(n)
	}
	return err
}

// lend lends the pair with this key, if slot is its own; ok says so.
func (m *MapState[K, V]) lend(key []byte, slot uint32, f func(K, V) bool) (more, ok bool, err error) {
	own, b, ok, err := m.pair(key)
	if err != nil || !ok || own != slot {
		return err == nil, false, err
	}
	k, err := m.keys.Decode(key)
	if err != nil {
		return false, false, err
	}
	v, err := m.values.Decode(b)
	if err != nil {
		return false, false, err
	}
	return f(k, v), true, nil
}

// closeHoles moves the pairs of n slots to the first ones.
func (m *MapState[K, V]) closeHoles(n uint32) error {
	to := uint32(0)
	for i := range n {
		b, ok, err := m.get(m.numbered(i))
		if err != nil {
			return err
		}
		if ok {
			m.moved = append(m.moved[:0], b...)
			own, _, found, err := m.pair(m.moved)
			if err != nil {
				return err
			}
			ok = found && own == i
		}
		switch {
		case !ok:
			err = m.remove(m.numbered(i))
		case i != to:
			err = m.move(i, to)
		}
		if err != nil {
			return err
		}
		if ok {
			to++
		}
	}
	return m.setCount(to)
}

// Clear forgets the map of the current key.
func (m *MapState[K, V]) Clear() error {
	n, err := m.count()
	for i := uint32(0); err == nil && i < n; i++ {
		var b []byte
		var ok bool
		if b, ok, err = m.get(m.numbered(i)); err != nil {
			return err
		}
		if ok {
			m.moved = append(m.moved[:0], b...)
			if err = m.remove(m.part(entryPart, m.moved)); err != nil {
				return err
			}
		}
		err = m.remove(m.numbered(i))
	}
	if err != nil {
		return err
	}
	return m.remove(m.main())
}

// pair reads the pair with this encoded key.
func (m *MapState[K, V]) pair(key []byte) (slot uint32, value []byte, ok bool, err error) {
	b, ok, err := m.get(m.part(entryPart, key))
	if err != nil || !ok {
		return 0, nil, false, err
	}
	return binary.LittleEndian.Uint32(b), b[4:], true, nil
}

// count is the number of slots in use, holes included.
func (m *MapState[K, V]) count() (uint32, error) {
	b, ok, err := m.get(m.main())
	if err != nil || !ok {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (m *MapState[K, V]) setCount(n uint32) error {
	hash := m.main()
	if n == 0 {
		return m.remove(hash)
	}
	m.body = binary.LittleEndian.AppendUint32(m.begin(), n)
	return m.put(hash)
}

func (m *MapState[K, V]) setSlot(slot uint32, key []byte) error {
	hash := m.numbered(slot)
	m.body = append(m.begin(), key...)
	return m.put(hash)
}

func (st *state) deadlineSize() int {
	if st.ttl.After > 0 {
		return 8
	}
	return 0
}
