package statecow

import "sync/atomic"

// state of an entry, two bits of its segment's marks.
type entryState uint64

const (
	live      entryState = 0
	fresh     entryState = 1 // live, and in no base: its deletion needs no tombstone
	tombstone entryState = 2
	dead      entryState = 3 // superseded, deleted or moved
)

// marks is a version of a segment's bitmap of entry states. A version is changed
// by the owner only while no open snapshot sees it; for that a snapshot sees the
// newest version whose epoch is below its id.
type marks struct {
	epoch uint64 // constant: how many snapshots had been taken when it was made
	bits  []uint64
	prev  atomic.Pointer[marks] // older version, for older snapshots
}

func newMarks(units uint32, epoch uint64) *marks {
	return &marks{epoch: epoch, bits: make([]uint64, units/64+1)}
}

func (m *marks) get(off uint32) entryState {
	lo := m.bits[off>>6] >> (off & 63) & 1
	off++
	return entryState(lo | m.bits[off>>6]>>(off&63)&1<<1)
}

func (m *marks) set(off uint32, s entryState) {
	if s == dead && off&63 < 63 {
		m.bits[off>>6] |= uint64(dead) << (off & 63)
		return
	}
	m.put(off, uint64(s)&1)
	m.put(off+1, uint64(s)>>1)
}

func (m *marks) put(off uint32, bit uint64) {
	w := &m.bits[off>>6]
	*w = *w&^(1<<(off&63)) | bit<<(off&63)
}

// seenBy is the version that snapshot id sees.
func (m *marks) seenBy(id uint64) *marks {
	for m.epoch >= id {
		m = m.prev.Load()
	}
	return m
}

// copied returns a changeable copy of m. open are the ids of open snapshots in
// ascending order: versions that none of them sees are unlinked.
func (m *marks) copied(epoch uint64, open []*snapshot) *marks {
	c := &marks{epoch: epoch, bits: append([]uint64(nil), m.bits...)}
	c.prev.Store(m)
	newer := c
	for v := m; v != nil; v = v.prev.Load() {
		if seenByAny(v, newer.epoch, open) {
			newer = v
			continue
		}
		newer.prev.Store(v.prev.Load())
	}
	return c
}

// seenByAny reports whether a snapshot sees v, whose next version has epoch next.
func seenByAny(v *marks, next uint64, open []*snapshot) bool {
	for _, s := range open {
		if v.epoch < s.id && s.id <= next {
			return true
		}
	}
	return false
}
