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
func (m *Map) RestoreOf(from io.Reader, covers Groups) error {
	r := restoration{m: m, in: &blockReader{r: from}}
	if err := r.in.begin(); err != nil {
		return err
	}
	head := &r.in.header
	if have := head.layout(); have.String() != m.layout.String() {
		return &LayoutError{Have: have.String(), Want: m.layout.String()}
	}
	r.bulk = m.startBulk(int(float64(head.entries) * m.opts.Groups.shareOf(covers)))
	err := r.blocks()
	if bulkErr := r.endBulk(); err == nil {
		err = bulkErr
	}
	return err
}

// restoration is what reads one written snapshot into a map.
type restoration struct {
	m    *Map
	in   *blockReader
	bulk *bulk // nil: entry by entry
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

func (r *restoration) endBulk() error {
	if r.bulk == nil {
		return nil
	}
	err := r.bulk.end()
	r.bulk = nil
	return err
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
			if err := r.endBulk(); err != nil {
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

func (r *restoration) deletes(h blockHeader, payload []byte) error {
	if err := r.endBulk(); err != nil {
		return err
	}
	return r.in.each(h, payload, func(e Entry) error {
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
