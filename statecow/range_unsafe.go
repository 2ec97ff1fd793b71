package statecow

import "unsafe"

// Range implements Store. All groups are read in the order of the log, at the
// speed of memory; fewer in the order of their hashes, through the index.
func (m *Map) Range(g Groups, f func(hash uint32, key, value []byte) bool) error {
	if g.First <= m.opts.Groups.First && g.End >= m.opts.Groups.End {
		m.rangeLog(f)
		return nil
	}
	lo, hi := g.hashes(m.opts.MaxGroups)
	lo, hi = max(lo, m.lo), min(hi, m.hi)
	if lo >= hi {
		return nil
	}
	for pos := m.index.seek(uint32(lo)); pos < m.index.limit; pos++ {
		s := *m.index.at(pos)
		if s == 0 {
			continue
		}
		if s>>32 >= hi {
			return nil
		}
		e := m.layout.at(m.pointer(address(s)))
		if !f(e.hash, e.key, e.value) {
			return nil
		}
	}
	return nil
}

func (m *Map) rangeLog(f func(hash uint32, key, value []byte) bool) {
	m.killPending()
	for i := uint32(1); i < m.unused; i++ {
		s := m.slots[i].Load()
		if s == nil || s.live == 0 {
			continue
		}
		marks := s.marks.Load()
		for off := uint32(0); off < s.end; {
			e := m.layout.at(m.pointer(i<<m.shift | off))
			if st := marks.get(off); st <= fresh && !f(e.hash, e.key, e.value) {
				return
			}
			off += e.units
		}
	}
}

// bytesAt shares n units of the log.
func (l *log) bytesAt(a address, n uint32) []byte {
	return unsafe.Slice((*byte)(l.pointer(a)), int(n)*unit)
}

// word is the first word of an entry.
func (l *log) word(a address) uint64 { return *(*uint64)(l.pointer(a)) }
