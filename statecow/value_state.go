package statecow

import "fmt"

// ValueState is one value of V for each key and namespace. Values returned may be
// views into the store, valid until its next operation.
type ValueState[V any] struct {
	*state
	codec Codec[V]
	place placed

	f      func(old V, ok bool) (V, bool) // of the Update under way
	update func([]byte, bool) ([]byte, bool)
	err    error
}

// NewValueState registers a state.
func NewValueState[V any](s *States, name string, codec Codec[V], ttl TTL) (*ValueState[V], error) {
	return newValueState(s, name, "ValueState", codec, ttl)
}

func newValueState[V any](s *States, name, kind string, codec Codec[V], ttl TTL) (*ValueState[V], error) {
	var zero V
	st, err := s.register(name, fmt.Sprintf("%s[%T]", kind, zero), ttl, codec.Fingerprint())
	if err != nil {
		return nil, err
	}
	v := &ValueState[V]{state: st, codec: codec, place: placeOf(s, codec, ttl)}
	v.update = v.change
	return v, nil
}

// Get returns the value of the current key, and whether there is one.
func (s *ValueState[V]) Get() (v V, ok bool, err error) {
	b, ok, err := s.get(s.main())
	if err != nil || !ok {
		return v, false, err
	}
	v, err = s.codec.Decode(b)
	return v, err == nil, err
}

// Set stores the value of the current key.
func (s *ValueState[V]) Set(v V) error {
	s.body = s.codec.Append(s.begin(), v)
	return s.put(s.main())
}

// Update stores what f makes of the value of the current key, with one look-up. f
// returns false to clear it. It must not change any state of the same operator.
func (s *ValueState[V]) Update(f func(old V, ok bool) (V, bool)) error {
	hash := s.main()
	if v := s.present(hash); v != nil {
		next, keep := f(*v, true)
		if !keep {
			return s.remove(hash)
		}
		*v = next
		return nil
	}
	s.f, s.err = f, nil
	err := s.of.store.Update(hash, s.path, s.update)
	s.f = nil
	if s.err != nil {
		return s.err
	}
	return err
}

func (s *ValueState[V]) change(stored []byte, found bool) ([]byte, bool) {
	var old V
	body := []byte(nil)
	if found {
		body, found = s.strip(stored)
	}
	if found {
		if old, s.err = s.codec.Decode(body); s.err != nil {
			return stored, true
		}
	}
	v, keep := s.f(old, found)
	if !keep {
		return nil, false
	}
	s.body = s.codec.Append(s.begin(), v)
	return s.body, true
}

// Clear forgets the value of the current key.
func (s *ValueState[V]) Clear() error { return s.remove(s.main()) }

// ReducingState is one value of V for each key and namespace: all values added,
// combined by a function.
type ReducingState[V any] struct {
	value *ValueState[V]
	next  V
	f     func(old V, ok bool) (V, bool)
}

// NewReducingState registers a state. reduce must be associative; it must not keep
// its arguments, nor change any state of the same operator.
func NewReducingState[V any](s *States, name string, codec Codec[V], reduce func(a, b V) V, ttl TTL) (*ReducingState[V], error) {
	v, err := newValueState(s, name, "ReducingState", codec, ttl)
	if err != nil {
		return nil, err
	}
	r := &ReducingState[V]{value: v}
	r.f = func(old V, ok bool) (V, bool) {
		if !ok {
			return r.next, true
		}
		return reduce(old, r.next), true
	}
	return r, nil
}

// Add combines v into the value of the current key.
func (r *ReducingState[V]) Add(v V) error {
	r.next = v
	return r.value.Update(r.f)
}

// Get returns the value of the current key, and whether anything was added.
func (r *ReducingState[V]) Get() (V, bool, error) { return r.value.Get() }

// Clear forgets the value of the current key.
func (r *ReducingState[V]) Clear() error { return r.value.Clear() }

// AggregatingState gathers values of I in an accumulator of A for each key and
// namespace, and makes results of O from it.
type AggregatingState[I, A, O any] struct {
	value  *ValueState[A]
	next   I
	f      func(old A, ok bool) (A, bool)
	result func(A) O
}

// NewAggregatingState registers a state. add gets the zero A for the first value
// of a key; it must not keep its arguments, nor change any state of the same operator.
func NewAggregatingState[I, A, O any](s *States, name string, codec Codec[A], add func(A, I) A, result func(A) O, ttl TTL) (*AggregatingState[I, A, O], error) {
	v, err := newValueState(s, name, "AggregatingState", codec, ttl)
	if err != nil {
		return nil, err
	}
	g := &AggregatingState[I, A, O]{value: v, result: result}
	g.f = func(old A, _ bool) (A, bool) { return add(old, g.next), true }
	return g, nil
}

// Add adds v to the accumulator of the current key.
func (g *AggregatingState[I, A, O]) Add(v I) error {
	g.next = v
	return g.value.Update(g.f)
}

// Get returns the result for the current key, and whether anything was added.
func (g *AggregatingState[I, A, O]) Get() (o O, ok bool, err error) {
	acc, ok, err := g.value.Get()
	if err != nil || !ok {
		return o, false, err
	}
	return g.result(acc), true, nil
}

// Clear forgets the accumulator of the current key.
func (g *AggregatingState[I, A, O]) Clear() error { return g.value.Clear() }
