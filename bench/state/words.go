package state

import (
	"github.com/overtake-stream/overtake/statecow"
)

// cowWords is statecow with 8-byte keys and values. Loops over keys are written out
// for each store, so that no call through an interface is in them.
type cowWords struct {
	spec spec
	m    *statecow.TypedMap[uint64, uint64]
}

func newCowWords(s spec) (*cowWords, error) {
	m, err := statecow.NewTyped[uint64, uint64](s.options(), nil)
	return &cowWords{s, m}, err
}

func (c *cowWords) put(key uint64) error { return c.m.Put(key, 1) }

func (c *cowWords) update(keys []uint64) error {
	for _, k := range keys {
		v, _, err := c.m.Upsert(k)
		if err != nil {
			return err
		}
		*v++
	}
	return nil
}

func (c *cowWords) prefetched(keys []uint64) error {
	var hashes [prefetch]uint32
	for len(keys) > 0 {
		part := keys[:min(prefetch, len(keys))]
		keys = keys[len(part):]
		for i, k := range part {
			hashes[i] = c.m.Hash(k)
		}
		c.m.Map().Prefetch(hashes[:len(part)])
		for i, k := range part {
			v, _, err := c.m.UpsertHashed(hashes[i], k)
			if err != nil {
				return err
			}
			*v++
		}
	}
	return nil
}

// prefetch is how many keys a caller of Prefetch has in hand.
const prefetch = 64

func (c *cowWords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		if v := c.m.Peek(k); v != nil {
			sum += *v
		}
	}
	return sum
}

func (c *cowWords) snapshot() func()     { return hold(c.m.Map()) }
func (c *cowWords) close() error         { return c.m.Map().Close() }
func (c *cowWords) state() *statecow.Map { return c.m.Map() }
func (c *cowWords) empty() (cow, error)  { return newCowWords(c.spec) }

// hold takes a snapshot that will be no base.
func hold(m *statecow.Map) func() {
	s, _ := m.Snapshot() // never fails
	return func() {
		s.Release()
		m.Abandon(s.Mark())
	}
}

// builtinWords is the builtin map with 8-byte keys and values.
type builtinWords struct{ m map[uint64]uint64 }

func (b *builtinWords) put(key uint64) error {
	b.m[key] = 1
	return nil
}

func (b *builtinWords) update(keys []uint64) error {
	for _, k := range keys {
		b.m[k]++
	}
	return nil
}

func (b *builtinWords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += b.m[k]
	}
	return sum
}

func (b *builtinWords) snapshot() func() { return clone(b.m) }
func (b *builtinWords) close() error     { return nil }

// pointerWords has its values behind pointers, which the garbage collector follows.
type pointerWords struct{ m map[uint64]*uint64 }

func (p *pointerWords) put(key uint64) error {
	v := new(uint64)
	*v = 1
	p.m[key] = v
	return nil
}

func (p *pointerWords) update(keys []uint64) error {
	for _, k := range keys {
		*p.m[k]++
	}
	return nil
}

func (p *pointerWords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += *p.m[k]
	}
	return sum
}

func (p *pointerWords) snapshot() func() { return clone(p.m) }
func (p *pointerWords) close() error     { return nil }
