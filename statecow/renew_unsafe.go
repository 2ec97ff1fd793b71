package statecow

import "unsafe"

// renew is replace for what happens to every entry of a fixed layout at its first
// change after a snapshot: slot is the entry's in the index, a its address. It returns
// where the copy is, or 0 if it is not as simple as usual. It has few instructions and
// no branch that is hard to predict, so that the processor runs ahead into the next
// operations, whose cache misses then overlap with those of this one. The rest of the
// work is put off until there is some of it.
func (m *Map) renew(slot *uint64, a address) address {
	if m.ends >= m.renewUntil && !m.allowRenewals() {
		return 0
	}
	units, to := m.layout.strideUnits, m.next
	m.next = to + units
	if from, dst := m.pointer(a), m.pointer(to); units == pairUnits {
		*(*[2]uint64)(dst) = *(*[2]uint64)(from)
	} else {
		copy(unsafe.Slice((*byte)(dst), units*unit), unsafe.Slice((*byte)(from), units*unit))
	}
	*slot = *slot&^(1<<32-1) | uint64(to)
	m.ended[m.ends%maxEnded] = ended{a, units}
	if m.ends++; m.ends >= m.renewUntil {
		m.killPending()
		m.work()
	}
	return to
}

// allowRenewals looks ahead how many renewals are as simple as usual.
func (m *Map) allowRenewals() bool {
	m.count()
	h := &m.hot
	if h.seg == nil || m.expiry != nil || m.ends >= m.endAt {
		return false
	}
	room := (m.segUnits - h.off) / m.layout.strideUnits
	m.next = h.seg.slot<<m.shift | h.off
	m.renewUntil = min(m.endAt, m.ends+int(room))
	return room > 0
}

// count adds up what renew appended to the open segment, before others append there.
func (l *log) count() {
	if l.renewUntil == 0 {
		return
	}
	l.renewUntil = 0
	h := &l.hot
	n := l.next - (h.seg.slot<<l.shift | h.off)
	h.off += n
	h.seg.end = h.off
	h.seg.live += n
	l.owed += n
	l.live += int64(n)
	l.filled += int64(n)
}
