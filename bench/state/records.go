package state

import "github.com/overtake-stream/overtake/statecow"

type recordKey [2]uint64

func keyOf(key uint64) recordKey { return recordKey{key, ^key} }

// record is a value of 200 bytes.
type record struct {
	count uint64
	_     [24]uint64
}

// cowRecords is statecow with 16-byte keys and 200-byte values.
type cowRecords struct {
	spec spec
	m    *statecow.TypedMap[recordKey, record]
}

func newCowRecords(s spec) (*cowRecords, error) {
	m, err := statecow.NewTyped[recordKey, record](s.options(), nil)
	return &cowRecords{s, m}, err
}

func (c *cowRecords) put(key uint64) error {
	v, _, err := c.m.Upsert(keyOf(key))
	if err == nil {
		*v = record{count: 1}
	}
	return err
}

func (c *cowRecords) update(keys []uint64) error {
	for _, k := range keys {
		v, _, err := c.m.Upsert(keyOf(k))
		if err != nil {
			return err
		}
		v.count++
	}
	return nil
}

func (c *cowRecords) prefetched(keys []uint64) error {
	var hashes [prefetch]uint32
	for len(keys) > 0 {
		part := keys[:min(prefetch, len(keys))]
		keys = keys[len(part):]
		for i, k := range part {
			hashes[i] = c.m.Hash(keyOf(k))
		}
		c.m.Map().Prefetch(hashes[:len(part)])
		for i, k := range part {
			v, _, err := c.m.UpsertHashed(hashes[i], keyOf(k))
			if err != nil {
				return err
			}
			v.count++
		}
	}
	return nil
}

func (c *cowRecords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		if v := c.m.Peek(keyOf(k)); v != nil {
			sum += v.count
		}
	}
	return sum
}

func (c *cowRecords) snapshot() func()     { return hold(c.m.Map()) }
func (c *cowRecords) close() error         { return c.m.Map().Close() }
func (c *cowRecords) state() *statecow.Map { return c.m.Map() }
func (c *cowRecords) empty() (cow, error)  { return newCowRecords(c.spec) }

// builtinRecords is the builtin map of values. An update reads and puts all of a value.
type builtinRecords struct{ m map[recordKey]record }

func (b *builtinRecords) put(key uint64) error {
	b.m[keyOf(key)] = record{count: 1}
	return nil
}

func (b *builtinRecords) update(keys []uint64) error {
	for _, k := range keys {
		v := b.m[keyOf(k)]
		v.count++
		b.m[keyOf(k)] = v
	}
	return nil
}

func (b *builtinRecords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += b.m[keyOf(k)].count
	}
	return sum
}

func (b *builtinRecords) snapshot() func() { return clone(b.m) }
func (b *builtinRecords) close() error     { return nil }

// pointerRecords has its values behind pointers and changes them in place.
type pointerRecords struct{ m map[recordKey]*record }

func (p *pointerRecords) put(key uint64) error {
	p.m[keyOf(key)] = &record{count: 1}
	return nil
}

func (p *pointerRecords) update(keys []uint64) error {
	for _, k := range keys {
		p.m[keyOf(k)].count++
	}
	return nil
}

func (p *pointerRecords) get(keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += p.m[keyOf(k)].count
	}
	return sum
}

func (p *pointerRecords) snapshot() func() { return clone(p.m) }
func (p *pointerRecords) close() error     { return nil }
