package statecow

import (
	"reflect"
	"unsafe"
)

// Table is a map from encoded keys of any length to values of V, a type without
// pointers, which are read and changed in place. It belongs to one goroutine.
type Table[V any] struct {
	m    *Map
	size int
}

// NewTable returns an empty table. It returns a *TypeError if V cannot be stored
// in place.
func NewTable[V any](o Options) (*Table[V], error) {
	m, err := New(o)
	if err != nil {
		return nil, err
	}
	return TableOver[V](m)
}

// TableOver returns the table of what a map made by New holds. It returns a
// *TypeError if V cannot be stored in place.
func TableOver[V any](m *Map) (*Table[V], error) {
	t := reflect.TypeFor[V]()
	if err := checkValue(t); err != nil {
		return nil, err
	}
	return &Table[V]{m: m, size: int(t.Size())}, nil
}

// Map is the map below, for snapshots, restore and figures.
func (t *Table[V]) Map() *Map { return t.m }

// Len is the number of keys.
func (t *Table[V]) Len() int { return t.m.Len() }

// Upsert lends the value of a key, for change in place until the next operation;
// added says that it is new and zero. It lends key.
func (t *Table[V]) Upsert(hash uint32, key []byte) (v *V, added bool, err error) {
	if p := t.m.quick(hash, key, t.size); p != nil {
		return (*V)(p), false, nil
	}
	b, added, err := t.m.Upsert(hash, key, t.size)
	return (*V)(unsafe.Pointer(unsafe.SliceData(b))), added, err
}

// Get lends the value of a key, not to be changed, until the next operation, or
// returns nil. It lends key.
func (t *Table[V]) Get(hash uint32, key []byte) *V {
	b, ok, _ := t.m.Get(hash, key)
	if !ok {
		return nil
	}
	return (*V)(unsafe.Pointer(unsafe.SliceData(b)))
}

// Delete removes a key. It lends key.
func (t *Table[V]) Delete(hash uint32, key []byte) error {
	_, err := t.m.Delete(hash, key)
	return err
}

// Each lends every key and its value, not to be changed, to f until f returns
// false.
func (t *Table[V]) Each(f func(key []byte, v *V) bool) {
	t.m.rangeLog(func(_ uint32, key, value []byte) bool {
		return f(key, (*V)(unsafe.Pointer(unsafe.SliceData(value))))
	})
}
