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

// bitmaps are those of versions that nobody sees any more, for the next versions:
// fresh memory would cost more than a copy does. All have the size of a segment's.
type bitmaps struct {
	words int // constant: of a bitmap
	keep  int // idle ones at most: one for each segment
	idle  [][]uint64

	copies int // made so far
}

// take returns a bitmap of n words, their content undefined.
func (b *bitmaps) take(n int) []uint64 {
	last := len(b.idle) - 1
	if n != b.words || last < 0 {
		return make([]uint64, n)
	}
	bits := b.idle[last]
	b.idle = b.idle[:last]
	return bits
}

func (b *bitmaps) give(bits []uint64) {
	if len(bits) == b.words && len(b.idle) < b.keep {
		b.idle = append(b.idle, bits)
	}
}

// giveAll takes the bitmaps of all versions from m on.
func (b *bitmaps) giveAll(m *marks) {
	for ; m != nil; m = m.prev.Load() {
		b.give(m.bits)
	}
}

// newMarks returns marks of live entries.
func (b *bitmaps) newMarks(units uint32, epoch uint64) *marks {
	m := &marks{epoch: epoch, bits: b.take(int(units/64 + 1))}
	clear(m.bits)
	return m
}

func (m *marks) get(off uint32) entryState {
	lo := m.bits[off>>6] >> (off & 63) & 1
	off++
	return entryState(lo | m.bits[off>>6]>>(off&63)&1<<1)
}

// allLive reports whether all entries that begin in the word of off are live and not fresh.
// It may say no where they are.
func (m *marks) allLive(off uint32) bool {
	w := off >> 6
	return int(w+1) < len(m.bits) && m.bits[w] == 0 && m.bits[w+1]&1 == 0
}

// setState sets the state of the entry at off.
func setState(bits []uint64, off uint32, s entryState) {
	if s == dead && off&63 < 63 {
		bits[off>>6] |= uint64(dead) << (off & 63)
		return
	}
	setBit(bits, off, uint64(s)&1)
	setBit(bits, off+1, uint64(s)>>1)
}

func setBit(bits []uint64, off uint32, bit uint64) {
	w := &bits[off>>6]
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
// ascending order: versions that none of them sees are unlinked. A reader may still
// pass them on its way to its own, but looks at their epoch alone.
func (b *bitmaps) copied(m *marks, epoch uint64, open []*snapshot) *marks {
	c := &marks{epoch: epoch}
	c.prev.Store(m)
	newer := c
	for v := m; v != nil; v = v.prev.Load() {
		if seenByAny(v, newer.epoch, open) {
			newer = v
			continue
		}
		newer.prev.Store(v.prev.Load())
		if v != m {
			b.give(v.bits)
		}
	}
	c.bits = b.take(len(m.bits))
	b.copies++
	copy(c.bits, m.bits)
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
