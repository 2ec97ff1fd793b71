package operators

import (
	"fmt"

	"github.com/overtake-stream/overtake/statecow"
)

// table is keyed state: an accumulator of A for every key, by the key's encoding.
// It belongs to the subtask's goroutine.
type table[A any] struct {
	place *statecow.Table[A] // of accumulators without pointers, which are changed where they lie
	coded *codecTable[A]     // of others
}

// upsert lends the accumulator of a key, for change until the next call; fresh
// says that it is new and zero. It lends key.
func (t *table[A]) upsert(hash uint32, key []byte) (acc *A, fresh bool, err error) {
	if t.place != nil {
		return t.place.Upsert(hash, key)
	}
	return t.coded.upsert(hash, key)
}

// save ends the change of what upsert lent. It lends key.
func (t *table[A]) save(hash uint32, key []byte) error {
	if t.place != nil {
		return nil
	}
	return t.coded.save(hash, key)
}

// each lends every key and its accumulator to f, in no particular order, until f
// returns false.
func (t *table[A]) each(f func(key []byte, acc *A) bool) error {
	if t.place != nil {
		t.place.Each(f)
		return nil
	}
	return t.coded.each(f)
}

// openTable opens the operator's table and restores it. final: see KeyedStore.
func openTable[A any](ctx *Context, keyLayout string, final bool) (t table[A], k *KeyedStore, err error) {
	codec, err := CodecFor[A]()
	if err != nil {
		return t, nil, err
	}
	if k, err = ctx.keyed("", false); err != nil {
		return t, nil, err
	}
	k.Direct, k.Final, k.Layout = true, final, "key "+keyLayout+accumulatorLayout+layoutOf(codec)
	if err := k.fits("accumulator"); err != nil {
		return t, k, err
	}
	if err := k.Restore(); err != nil {
		return t, k, err
	}
	if m, ok := k.Store.(*statecow.Map); ok && PointerFree[A]() {
		t.place, err = statecow.TableOver[A](m)
		return t, k, err
	}
	t.coded = &codecTable[A]{store: k.Store, codec: codec, groups: max(ctx.MaxParallel, 1)}
	return t, k, nil
}

// layoutOf describes a codec's encoding.
func layoutOf[T any](c Codec[T]) string {
	if l, ok := c.(interface{ Layout() string }); ok {
		return l.Layout()
	}
	return fmt.Sprintf("%T %x", c, c.Fingerprint())
}

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
