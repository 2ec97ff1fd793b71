package operators

import (
	"fmt"

	"github.com/overtake-stream/overtake/statecow"
)

// table is keyed state: an accumulator of A for every key, by the key's encoding.
// It belongs to the subtask's goroutine.
type table[A any] interface {
	// upsert lends the accumulator of a key, for change until the next call; fresh
	// says that it is new and zero. It lends key.
	upsert(hash uint32, key []byte) (acc *A, fresh bool, err error)
	// save ends the change of what upsert lent. It lends key.
	save(hash uint32, key []byte) error
	// each lends every key and its accumulator to f, in no particular order, until f
	// returns false.
	each(f func(key []byte, acc *A) bool) error
}

// openTable opens the operator's table and restores it. final: see KeyedStore.
func openTable[A any](ctx *Context, keyLayout string, final bool) (table[A], *KeyedStore, error) {
	codec, err := CodecFor[A]()
	if err != nil {
		return nil, nil, err
	}
	k, err := ctx.keyed("", false)
	if err != nil {
		return nil, nil, err
	}
	k.Direct, k.Final, k.Layout = true, final, "key "+keyLayout+accumulatorLayout+layoutOf(codec)
	if err := k.fits("accumulator"); err != nil {
		return nil, k, err
	}
	if err := k.Restore(); err != nil {
		return nil, k, err
	}
	if m, ok := k.Store.(*statecow.Map); ok && PointerFree[A]() {
		t, err := statecow.TableOver[A](m)
		return placeTable[A]{t}, k, err
	}
	return &codecTable[A]{store: k.Store, codec: codec, groups: max(ctx.MaxParallel, 1)}, k, nil
}

// layoutOf describes a codec's encoding.
func layoutOf[T any](c Codec[T]) string {
	if l, ok := c.(interface{ Layout() string }); ok {
		return l.Layout()
	}
	return fmt.Sprintf("%T %x", c, c.Fingerprint())
}

// placeTable changes accumulators without pointers where they lie.
type placeTable[A any] struct{ *statecow.Table[A] }

func (t placeTable[A]) upsert(hash uint32, key []byte) (*A, bool, error) { return t.Upsert(hash, key) }

func (t placeTable[A]) save(uint32, []byte) error { return nil }

func (t placeTable[A]) each(f func([]byte, *A) bool) error { t.Each(f); return nil }

// codecTable keeps accumulators encoded, and decodes one at a time.
type codecTable[A any] struct {
	store  statecow.Store
	codec  Codec[A]
	groups int
	acc    A
	bytes  []byte
}

func (t *codecTable[A]) upsert(hash uint32, key []byte) (*A, bool, error) {
	var zero A
	t.acc = zero
	value, ok, err := t.store.Get(hash, key)
	if ok && err == nil {
		t.acc, err = t.codec.Decode(value)
	}
	return &t.acc, !ok, err
}

func (t *codecTable[A]) save(hash uint32, key []byte) error {
	t.bytes = t.codec.Append(t.bytes[:0], t.acc)
	return t.store.Put(hash, key, t.bytes)
}

func (t *codecTable[A]) each(f func(key []byte, acc *A) bool) (err error) {
	all := statecow.Groups{First: 0, End: t.groups}
	rangeErr := t.store.Range(all, func(_ uint32, key, value []byte) bool {
		if t.acc, err = t.codec.Decode(value); err != nil {
			return false
		}
		return f(key, &t.acc)
	})
	if err != nil {
		return err
	}
	return rangeErr
}
