package statecow

import "unsafe"

// copier is what a Codec is that copies the memory of its values, which have no pointers.
type copier interface {
	// CopySize is the size of every value, in bytes.
	CopySize() int
}

// placed says where values of V are changed in place.
type placed struct {
	m    *Map // nil: nowhere
	size int
}

// placeOf returns the map whose values a state with this codec may change in place: values
// that neither expire nor have to be encoded.
func placeOf[V any](s *States, codec Codec[V], ttl TTL) (p placed) {
	var v V
	m, ok := s.store.(*Map)
	c, copies := codec.(copier)
	if ok && copies && !m.layout.fixed && ttl.After == 0 && c.CopySize() == int(unsafe.Sizeof(v)) && unsafe.Sizeof(v) > 0 {
		p = placed{m, c.CopySize()}
	}
	return p
}

// Place lends the value of the current key, for change in place until the next operation of
// the store; added says that it is new and zero. It returns nil where values cannot be changed
// in place, because they expire, have pointers, or are on disk: use Update.
func (s *ValueState[V]) Place() (v *V, added bool, err error) {
	m := s.place.m
	if m == nil {
		return nil, false, nil
	}
	hash := s.main()
	if v := s.present(hash); v != nil {
		return v, false, nil
	}
	b, added, err := m.Upsert(hash, s.path, s.place.size)
	return (*V)(unsafe.Pointer(unsafe.SliceData(b))), added, err
}

// present lends the value stored at s.path if that may be changed in place at once, or nil.
func (s *ValueState[V]) present(hash uint32) *V {
	if s.place.m == nil {
		return nil
	}
	return (*V)(s.place.m.quick(hash, s.path, s.place.size))
}
