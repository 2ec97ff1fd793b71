package statecow

import "unsafe"

// renew is replace for what happens to every entry of a fixed layout at its first
// change after a snapshot: slot is the entry's in the index, a its address. It returns
// where the copy is, or 0 if it is not as simple as usual. It has few instructions and
// no branch that is hard to predict, so that the processor runs ahead into the next
// operations, whose cache misses then overlap with those of this one. The rest of the
// work is put off until there is some of it.
func (m *Map) renew(slot *uint64, a address) address {
	h, units := &m.hot, m.layout.strideUnits
	if h.seg == nil || h.off+units > m.segUnits || m.ends >= len(m.ended) || m.expiry != nil {
		return 0
	}
	to := h.seg.slot<<(m.shift&31) | h.off
	h.off += units
	m.uncounted += units
	if from, dst := m.pointer(a), m.pointer(to); units == pairUnits {
		*(*[2]uint64)(dst) = *(*[2]uint64)(from)
	} else {
		copy(unsafe.Slice((*byte)(dst), units*unit), unsafe.Slice((*byte)(from), units*unit))
	}
	*slot = *slot&^(1<<32-1) | uint64(to)
	m.ended[m.ends] = ended{a, units}
	if m.ends++; m.ends >= m.endAt {
		m.killPending()
		m.work()
	}
	return to
}

// count adds up what renew appended to the open segment.
func (l *log) count() {
	n := l.uncounted
	if n == 0 {
		return
	}
	l.uncounted = 0
	l.hot.seg.end = l.hot.off
	l.hot.seg.live += n
	l.owed += n
	l.live += int64(n)
	l.filled += int64(n)
}
