package statecow

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// TypedMap is a Map from K to V, both without pointers, in a fixed layout: values
// are read and changed in place through typed pointers, with no encoding. It
// belongs to one goroutine, its owner.
type TypedMap[K comparable, V any] struct {
	m    *Map
	hash func(K) uint32
	word bool // hash is HashUint64 of the 64 bits that K is
}

// NewTyped returns an empty map. hash must be well mixed and the same in every
// process; nil means HashUint64 for integers and Hash of the key's memory for all
// other types. It returns a *TypeError if K or V cannot be stored in place.
func NewTyped[K comparable, V any](o Options, hash func(K) uint32) (*TypedMap[K, V], error) {
	kt, vt := reflect.TypeFor[K](), reflect.TypeFor[V]()
	if err := checkKey(kt); err != nil {
		return nil, err
	}
	if err := checkValue(vt); err != nil {
		return nil, err
	}
	word := hash == nil && isWord(kt)
	if hash == nil {
		hash = defaultHash[K](kt)
	}
	ofBytes := func(key []byte) uint32 { return hash(*(*K)(unsafe.Pointer(unsafe.SliceData(key)))) }
	m, err := newMap(fixedLayout(int(kt.Size()), kt.Align(), int(vt.Size()), vt.Align(), ofBytes), o)
	if err != nil {
		return nil, err
	}
	return &TypedMap[K, V]{m: m, hash: hash, word: word}, nil
}

func defaultHash[K comparable](t reflect.Type) func(K) uint32 {
	if isWord(t) {
		return func(k K) uint32 { return HashUint64(*(*uint64)(unsafe.Pointer(&k))) }
	}
	switch t.Kind() {
	case reflect.Int32:
		return func(k K) uint32 { return HashUint64(uint64(*(*int32)(unsafe.Pointer(&k)))) }
	case reflect.Uint32:
		return func(k K) uint32 { return HashUint64(uint64(*(*uint32)(unsafe.Pointer(&k)))) }
	}
	return func(k K) uint32 { return Hash(bytesOf(&k)) }
}

func isWord(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return t.Size() == 8
	}
	return false
}

// bytesOf shares the memory of a value.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// Map is the map below, for snapshots, restore and figures. Keys and values there
// are the memory of K and V.
func (t *TypedMap[K, V]) Map() *Map { return t.m }

// Hash is the hash of a key.
func (t *TypedMap[K, V]) Hash(key K) uint32 {
	if t.word {
		return HashUint64(*(*uint64)(unsafe.Pointer(&key)))
	}
	return t.hash(key)
}

// Len is the number of keys.
func (t *TypedMap[K, V]) Len() int { return t.m.Len() }

// Get returns the value of a key and whether there is one.
func (t *TypedMap[K, V]) Get(key K) (v V, ok bool) {
	if p := t.Peek(key); p != nil {
		return *p, true
	}
	return v, false
}

// Peek lends the value of a key, not to be changed, until the next operation; nil
// if there is none.
func (t *TypedMap[K, V]) Peek(key K) *V { return t.PeekHashed(t.Hash(key), key) }

// PeekHashed is Peek for a caller who knows the key's hash.
func (t *TypedMap[K, V]) PeekHashed(hash uint32, key K) *V {
	if _, a := t.m.index.probe(hash); a != 0 && *(*K)(t.m.pointer(a)) == key {
		return t.value(a)
	}
	if _, a := t.find(hash, key); a != 0 {
		return t.value(a)
	}
	return nil
}

// Upsert finds or adds a key, with one probe, and lends its value for reading and
// writing in place until the next operation. A new value is zero.
func (t *TypedMap[K, V]) Upsert(key K) (v *V, added bool, err error) {
	return t.UpsertHashed(t.Hash(key), key)
}

// UpsertHashed is Upsert for a caller who knows the key's hash.
func (t *TypedMap[K, V]) UpsertHashed(hash uint32, key K) (v *V, added bool, err error) {
	m := t.m
	if x := &m.index; x.owns(hash) { // index.probe, which is too large to be inlined
		h := scramble(hash)
		home := unsafe.Pointer(x.at(x.home(h)))
		found := match8(home, uint32(h))
		if found == 0 { // one in eight, where a search would take longer
			home = unsafe.Add(home, 8*slotSize)
			found = match8(home, uint32(h))
		}
		if found != 0 {
			slot := (*uint64)(unsafe.Add(home, bits.TrailingZeros32(found)*slotSize))
			a := address(*slot)
			if p := m.pointer(a); a != 0 && *(*K)(p) == key {
				if m.mutable(a) {
					return (*V)(unsafe.Add(p, m.layout.valueOff)), false, nil
				}
				if a = m.renew(slot, a); a != 0 {
					return (*V)(unsafe.Add(m.pointer(a), m.layout.valueOff)), false, nil
				}
			}
		}
	}
	pos, a := t.find(hash, key)
	if a != 0 && m.mutable(a) {
		return t.value(a), false, nil
	}
	return t.upsert(pos, a, hash, key)
}

// upsert is UpsertHashed for a key that is new, or frozen at a.
func (t *TypedMap[K, V]) upsert(pos int, a address, hash uint32, key K) (v *V, added bool, err error) {
	added = a == 0
	if added {
		a, err = t.m.insert(pos, hash, bytesOf(&key), t.m.layout.valueSize)
	} else {
		a, err = t.m.replace(pos, a, hash, bytesOf(&key), t.m.layout.valueSize)
	}
	if err != nil {
		return nil, false, err
	}
	t.m.work()
	return t.value(a), added, nil
}

// Put stores a value.
func (t *TypedMap[K, V]) Put(key K, v V) error {
	p, _, err := t.Upsert(key)
	if err == nil {
		*p = v
	}
	return err
}

// Delete removes a key and reports whether it was there.
func (t *TypedMap[K, V]) Delete(key K) (bool, error) {
	hash := t.hash(key)
	pos, a := t.find(hash, key)
	if a == 0 {
		return false, nil
	}
	return true, t.m.remove(pos, a, hash, bytesOf(&key))
}

// Range lends every key of the groups and its value, not to be changed, to f until
// f returns false.
func (t *TypedMap[K, V]) Range(g Groups, f func(key K, v *V) bool) {
	_ = t.m.Range(g, func(_ uint32, key, value []byte) bool {
		return f(*(*K)(unsafe.Pointer(unsafe.SliceData(key))), (*V)(unsafe.Pointer(unsafe.SliceData(value))))
	})
}

func (t *TypedMap[K, V]) find(hash uint32, key K) (int, address) {
	m := t.m
	if !m.index.owns(hash) {
		return 0, 0
	}
	h := scramble(hash)
	pos := m.index.seek(h)
	for {
		s := *m.index.at(pos)
		if s == 0 || scrambled(s>>32) != h {
			return pos, 0
		}
		if *(*K)(m.pointer(address(s))) == key {
			return pos, address(s)
		}
		pos++
	}
}

func (t *TypedMap[K, V]) value(a address) *V {
	t.m.check(a)
	return (*V)(unsafe.Add(t.m.pointer(a), t.m.layout.valueOff))
}
