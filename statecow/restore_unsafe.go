package statecow

import (
	"io"
	"unsafe"
)

// Restore implements Store. Entries of other maps' key groups are skipped. After
// the last of a chain, a snapshot taken at once, confirmed and released makes the
// restored state the base of the next increment.
func (m *Map) Restore(r io.Reader) error {
	return m.RestoreOf(r, Groups{0, m.opts.MaxGroups})
}

// RestoreOf is Restore for a caller who knows which key groups the snapshot covers, so
// that room can be made for as many entries as will come.
func (m *Map) RestoreOf(r io.Reader, covers Groups) error {
	b := &blockReader{r: r}
	if err := b.begin(); err != nil {
		return err
	}
	if have := b.header.layout(); have.String() != m.layout.String() {
		return &LayoutError{Have: have.String(), Want: m.layout.String()}
	}
	m.index.reserve(int(float64(b.header.entries)*m.opts.Groups.shareOf(covers)), m.spareBytes())
	for {
		h, payload, err := b.next()
		if err != nil {
			return err
		}
		switch h.kind {
		case putBlock:
			err = m.restorePuts(b, h, payload)
		case deleteBlock:
			err = m.restoreDeletes(b, h, payload)
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

func (m *Map) restorePuts(b *blockReader, h blockHeader, payload []byte) error {
	var batch [loadAtOnce]view
	var raw [loadAtOnce][]byte
	var hashes [loadAtOnce]uint32
	total := uint32(0)
	for len(payload) > 0 {
		n := 0
		for ; n < loadAtOnce && len(payload) > 0; total++ {
			e, size := m.layout.decode(payload)
			if size == 0 {
				return b.corrupt("record %d of a block does not fit it", total)
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
				return err
			}
		}
	}
	if total != h.records {
		return b.corrupt("a block of %d records holds %d", h.records, total)
	}
	b.entries += int64(total)
	return nil
}

// load is Put for an entry that lies as in the log and is probably new.
func (m *Map) load(e view, raw []byte) error {
	pos := m.index.seek(e.hash)
	found := *m.index.at(pos)
	if found != 0 && uint32(found>>32) == e.hash || m.expiry != nil || !m.bases.empty() || m.needs(&m.hot, e.units) > 0 {
		return m.Put(e.hash, e.key, e.value)
	}
	if err := m.index.room(pos); err != nil {
		return err
	}
	a := m.log.append(&m.hot, e.units)
	copy(m.bytesAt(a, e.units), raw)
	m.index.insert(pos, e.hash, a)
	m.index.grow(m.spareBytes())
	return nil
}

func (m *Map) restoreDeletes(b *blockReader, h blockHeader, payload []byte) error {
	return b.each(h, payload, func(e Entry) error {
		_, err := m.Delete(e.Hash, e.Key)
		return err
	})
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
