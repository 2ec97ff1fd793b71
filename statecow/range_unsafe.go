package statecow

import "unsafe"

// Range implements Store. It reads the whole log, in its order, at the speed of memory,
// also for few groups.
func (m *Map) Range(g Groups, f func(hash uint32, key, value []byte) bool) error {
	if g.First <= m.opts.Groups.First && g.End >= m.opts.Groups.End {
		m.rangeLog(f)
		return nil
	}
	lo, hi := g.hashes(m.opts.MaxGroups)
	m.rangeLog(func(hash uint32, key, value []byte) bool {
		return uint64(hash) < lo || uint64(hash) >= hi || f(hash, key, value)
	})
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
