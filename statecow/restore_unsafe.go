package statecow

import (
	"errors"
	"io"
	"unsafe"
)

// Restore implements Store. Entries of other maps' key groups are skipped. After
// the last of a chain, a snapshot taken at once, confirmed and released makes the
// restored state the base of the next increment.
func (m *Map) Restore(r io.Reader) error {
	c := m.RestoreChain(Groups{0, m.opts.MaxGroups})
	err := c.Apply(r)
	return errors.Join(err, c.Close())
}

// Chain restores the snapshots of a chain into a map, which nothing else may use until
// Close.
type Chain struct {
	m      *Map
	covers Groups
	sizes  []int64
	bulk   *bulk // nil before the first snapshot, and when it goes entry by entry
	number int   // of snapshots applied
}

// RestoreChain begins to restore a chain whose snapshots cover these key groups: so room
// can be made for as many entries as will come, and what several snapshots have is put
// in order once, at the end. sizes are those of the snapshots in bytes, as far as they
// are known.
func (m *Map) RestoreChain(covers Groups, sizes ...int64) *Chain {
	return &Chain{m: m, covers: covers, sizes: sizes}
}

// Apply applies the next snapshot, the full one first, as Restore does.
func (c *Chain) Apply(from io.Reader) error {
	r := restoration{Chain: c, in: &blockReader{r: from}}
	if err := r.in.begin(); err != nil {
		return err
	}
	head, m := &r.in.header, c.m
	if have := head.layout(); have.String() != m.layout.String() {
		return &LayoutError{Have: have.String(), Want: m.layout.String()}
	}
	if c.number++; c.number == 1 {
		entries := float64(head.entries) * m.opts.Groups.shareOf(c.covers)
		if c.bulk = m.startBulk(int(entries * (1 + c.growth()))); c.bulk == nil {
			c.bulk = m.startBulk(int(entries))
		}
	}
	return r.blocks()
}

// mostGrowth is for how many entries of increments there is room at most, as a part of the
// full snapshot's. They are changes for the most part, whose room is not needed in the end.
const mostGrowth = 0.5

// growth is how many entries increments have, as a part of the full snapshot's.
func (c *Chain) growth() float64 {
	if len(c.sizes) < 2 || c.sizes[0] <= 0 {
		return 0
	}
	total := int64(0)
	for _, n := range c.sizes[1:] {
		total += n
	}
	return min(mostGrowth, float64(total)/float64(c.sizes[0]))
}

// Close ends the restore, in any case: the map can be used again.
func (c *Chain) Close() error {
	if c.bulk == nil {
		return nil
	}
	err := c.bulk.end()
	c.bulk = nil
	return err
}

// restoration is what reads one written snapshot into a map.
type restoration struct {
	*Chain
	in *blockReader
}

func (r *restoration) blocks() error {
	for {
		h, payload, err := r.in.next()
		if err != nil {
			return err
		}
		switch h.kind {
		case putBlock:
			err = r.puts(h, payload)
		case deleteBlock:
			err = r.deletes(h, payload)
		case endBlock:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// loadAtOnce is how many entries are decoded and looked for ahead of their
// insertion, so that the cache misses of all overlap.
const loadAtOnce = 32

func (r *restoration) puts(h blockHeader, payload []byte) error {
	total := uint32(0)
	if r.bulk != nil {
		done, n := r.bulk.take(payload)
		payload, total = payload[done:], n
		if len(payload) > 0 {
			if err := r.Close(); err != nil {
				return err
			}
		}
	}
	n, err := r.load(payload, total)
	if err != nil {
		return err
	}
	return r.in.counted(h, total+n)
}

// load puts entries one by one and returns how many records those are.
func (r *restoration) load(payload []byte, total uint32) (records uint32, err error) {
	m := r.m
	var batch [loadAtOnce]view
	var raw [loadAtOnce][]byte
	var hashes [loadAtOnce]uint32
	for len(payload) > 0 {
		n := 0
		for ; n < loadAtOnce && len(payload) > 0; records++ {
			e, size := m.layout.decode(payload)
			if size == 0 {
				return records, r.in.misfit(total + records)
			}
			if m.index.owns(e.hash) {
				batch[n], raw[n], hashes[n] = e, payload[:size], e.hash
				n++
			}
			payload = payload[size:]
		}
		m.touched = m.index.touch(hashes[:n])
		for i, e := range batch[:n] {
			if err := m.load(e, raw[i]); err != nil {
				return records, err
			}
		}
	}
	return records, nil
}

// load is Put for an entry that lies as in the log and is probably new.
func (m *Map) load(e view, raw []byte) error {
	h := scramble(e.hash)
	pos := m.index.seek(h)
	found := *m.index.at(pos)
	if found != 0 && scrambled(found>>32) == h || m.expiry != nil || !m.bases.empty() || m.needs(&m.hot, e.units) > 0 {
		return m.Put(e.hash, e.key, e.value)
	}
	if err := m.index.room(pos); err != nil {
		return err
	}
	a := m.log.append(&m.hot, e.units)
	copy(m.bytesAt(a, e.units), raw)
	m.index.insert(pos, h, a)
	m.index.grow(m.spareBytes())
	return nil
}

func (r *restoration) deletes(h blockHeader, payload []byte) error {
	return r.in.each(h, payload, func(e Entry) error {
		if r.bulk != nil && r.bulk.remove(e.Hash, e.Key) {
			return nil
		}
		if err := r.Close(); err != nil {
			return err
		}
		_, err := r.m.Delete(e.Hash, e.Key)
		return err
	})
}

// peek is the hash and the size of the entry at the start of b, as decode has them.
func (l *layout) peek(b []byte) (hash uint32, size int) {
	if l.fixed {
		if len(b) < l.stride {
			return 0, 0
		}
		return l.hash(b[:l.keySize]), l.stride
	}
	if len(b) < 2*unit {
		return 0, 0
	}
	h := *(*uint64)(unsafe.Pointer(&b[0]))
	if h>>56 == shortKey {
		e, size := l.decode(b)
		return e.hash, size
	}
	size = max(2*unit, roundUp(unit+int(h>>56)+int(h>>32&shortValue), unit))
	if size > len(b) {
		return 0, 0
	}
	return uint32(h), size
}

// decode reads the entry at the start of b, whose lengths it checks, and returns
// its size; 0 if it does not fit. b is aligned to 8 bytes.
func (l *layout) decode(b []byte) (view, int) {
	if l.fixed {
		if len(b) < l.stride {
			return view{}, 0
		}
		return l.at(unsafe.Pointer(&b[0])), l.stride
	}
	if len(b) < 2*unit {
		return view{}, 0
	}
	head, klen, vlen := lengths(unsafe.Pointer(&b[0]))
	size := max(2*unit, roundUp(head+klen+vlen, unit))
	if klen > maxKey || vlen > maxValue || size > len(b) {
		return view{}, 0
	}
	return l.at(unsafe.Pointer(&b[0])), size
}

// putBytes writes an entry to b, which is aligned to 8 bytes.
func (l *layout) putBytes(b []byte, hash uint32, key, value []byte) {
	copy(l.put(unsafe.Pointer(&b[0]), hash, key, len(value)), value)
}
