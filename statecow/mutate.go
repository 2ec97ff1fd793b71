package statecow

// insert adds a key at slot pos with a zero value.
func (m *Map) insert(pos int, hash uint32, key []byte, n int) (address, error) {
	if !m.index.owns(hash) {
		return 0, &GroupError{Group: KeyGroup(hash, m.opts.MaxGroups), Owned: m.opts.Groups}
	}
	units := m.layout.units(len(key), n)
	if m.needs(&m.hot, units) > 0 {
		if err := m.room(&m.hot, units, true); err != nil {
			return 0, err
		}
		pos = m.index.seek(scramble(hash)) // making room may have removed entries
	}
	if err := m.index.room(pos); err != nil {
		return 0, err
	}
	a := m.log.append(&m.hot, units)
	clear(m.layout.put(m.pointer(a), hash, key, n))
	if !m.bases.empty() {
		s, off := m.segmentOf(a)
		m.mark(s, off, fresh)
	}
	m.index.insert(pos, scramble(hash), a)
	m.index.grow(m.spareBytes())
	return a, nil
}

// inPlace reports whether the entry at a may get a value of n bytes where it is.
func (m *Map) inPlace(a address, key, n int) bool {
	return m.mutable(a) && (m.layout.fixed || m.layout.size(m.pointer(a)) == m.layout.units(key, n))
}

// write makes the value of the entry at a changeable, with n bytes, and returns
// where it now is.
func (m *Map) write(pos int, a address, hash uint32, key []byte, n int) (address, error) {
	p := m.pointer(a)
	old := m.layout.value(p)
	if m.inPlace(a, len(key), n) {
		if n != len(old) {
			m.resize(a, hash, key, n)
		}
		return a, nil
	}
	return m.replace(pos, a, hash, key, n)
}

// resize gives the value of the entry at a another size within the same units. The
// key moves with its end, so what is kept of the value is set aside.
func (m *Map) resize(a address, hash uint32, key []byte, n int) {
	p := m.pointer(a)
	m.clean.scratch = append(m.clean.scratch[:0], m.layout.value(p)...)
	dst := m.layout.put(p, hash, key, n)
	clear(dst[copy(dst, m.clean.scratch):])
}

// replace appends a copy of the entry at a, with n bytes of value, and ends the
// old one.
func (m *Map) replace(pos int, a address, hash uint32, key []byte, n int) (address, error) {
	units := m.layout.units(len(key), n)
	if m.needs(&m.hot, units) > 0 {
		if err := m.room(&m.hot, units, true); err != nil {
			return 0, err
		}
		if pos, a = m.find(hash, key); a == 0 { // it expired meanwhile
			return m.insert(pos, hash, key, n)
		}
	}
	s, off := m.segmentOf(a)
	wasFresh := !m.bases.empty() && m.mutable(a) && s.marks.Load().get(off) == fresh
	old := m.layout.size(m.pointer(a))
	to := m.log.append(&m.hot, units)
	if old == units && n == len(m.layout.value(m.pointer(a))) {
		copy(m.bytesAt(to, units), m.bytesAt(a, units))
	} else {
		m.copyEntry(to, a, hash, key, n)
	}
	if wasFresh {
		seg, at := m.segmentOf(to)
		m.mark(seg, at, fresh)
	}
	m.killLater(a, old)
	*m.index.at(pos) = scramble(hash).slot(to)
	return to, nil
}

// killLater is kill for an entry that the index no longer has. Marks are far apart
// in memory: a row of them costs hardly more than one.
func (m *Map) killLater(a address, n uint32) {
	if m.ends >= m.endAt {
		m.killPending()
	}
	m.ended[m.ends] = ended{a, n}
	m.ends++
}

// fewEnded is how many ended entries are gathered while their marks have to be copied,
// so that no operation has to make many copies at once.
const fewEnded = 16

// killPending does what killLater put off. It looks for released snapshots first:
// marks that none sees need no copy.
func (m *Map) killPending() {
	m.count()
	if m.ends == 0 {
		return
	}
	m.forget()
	touched, total, copies := uint64(0), uint32(0), m.bitmaps.copies
	for _, e := range m.ended[:m.ends] { // as index.touch
		s, off := m.segmentOf(e.a)
		touched |= s.bits[off>>6]
	}
	for _, e := range m.ended[:m.ends] {
		s, off := m.segmentOf(e.a)
		m.mark(s, off, dead)
		m.lessIn(s, e.units)
		total += e.units
	}
	m.touched = touched
	m.live -= int64(total)
	m.owed += total
	m.ends, m.endAt = 0, len(m.ended)
	if copies != m.bitmaps.copies {
		m.endAt = fewEnded
	}
}

// copyEntry writes a copy of the entry at a to another place, with n bytes of value, which
// it did not have before.
func (m *Map) copyEntry(to, a address, hash uint32, key []byte, n int) {
	from := m.pointer(a)
	dst := m.layout.put(m.pointer(to), hash, key, n)
	clear(dst[copy(dst, m.layout.value(from)):])
}

// remove deletes the entry at a, leaving a tombstone if an increment will need it.
func (m *Map) remove(pos int, a address, hash uint32, key []byte) error {
	err := m.dropEntry(pos, a, hash, key)
	if err == nil {
		m.work()
	}
	return err
}

// dropEntry is remove without the work that follows.
func (m *Map) dropEntry(pos int, a address, hash uint32, key []byte) error {
	s, off := m.segmentOf(a)
	units := m.layout.size(m.pointer(a))
	state := s.marks.Load().get(off)
	switch {
	case m.bases.empty(), m.mutable(a) && state == fresh:
		m.kill(a, units)
	case m.mutable(a):
		m.mark(s, off, tombstone)
		s.live -= units
		m.live -= int64(units)
		m.countTombstone(s, units)
	default:
		n := m.layout.units(len(key), m.layout.valueSize)
		if err := m.room(&m.hot, n, false); err != nil {
			return err
		}
		m.appendTombstone(hash, key)
		m.kill(a, units)
	}
	m.index.remove(pos)
	m.index.shrink()
	return nil
}

// appendTombstone appends a deletion; there is room.
func (m *Map) appendTombstone(hash uint32, key []byte) {
	n := m.layout.units(len(key), m.layout.valueSize)
	a := m.log.append(&m.hot, n)
	clear(m.layout.put(m.pointer(a), hash, key, m.layout.valueSize))
	s, off := m.segmentOf(a)
	m.mark(s, off, tombstone)
	s.live -= n
	m.live -= int64(n)
	m.countTombstone(s, n)
}

func (m *Map) countTombstone(s *segment, units uint32) {
	s.tombs += units
	m.tombs += int64(units)
}
