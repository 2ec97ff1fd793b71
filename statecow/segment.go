package statecow

import "sync/atomic"

// segment describes a segment of the log in use.
type segment struct {
	// owner: what ends an entry, in one line of the cache
	live  uint32   // units of live entries
	end   uint32   // units filled
	epoch uint64   // of the newest marks
	bits  []uint64 // of the newest marks

	// constant
	slot  uint32 // number of its place in the region
	count uint32 // places that it takes: more than one for a single large entry
	seq   uint64 // order of creation, from 1
	birth uint64 // snapshots taken before its creation
	cold  bool   // holds what every base has: skipped by increments

	// atomic
	marks   atomic.Pointer[marks]
	retired atomic.Uint64 // 1 + snapshots taken before it was emptied; 0 while in use
	moved   atomic.Uint64 // of a cold one: the first of the positions where its entries were before

	// owner
	tombs     uint32 // units of tombstones
	scanned   uint32 // units that compaction has dealt with
	deadlines [expiryClocks]int64
}

// setMarks makes m the newest version.
func (s *segment) setMarks(m *marks) {
	s.epoch, s.bits = m.epoch, m.bits
	s.marks.Store(m)
}

// sees reports whether snapshot id needs the segment.
func (s *segment) sees(id uint64) bool {
	r := s.retired.Load()
	return s.birth < id && (r == 0 || id < r)
}

// position orders entries by time. Those of cold segments are before every mark.
func (s *segment) position(off uint32) Mark {
	if s.cold {
		return 0
	}
	return Mark(s.seq<<offBits | uint64(off))
}

// from is the first position where what lies from off on was written, so that increments
// have it.
func (s *segment) from(off uint32) Mark {
	if s.cold {
		return Mark(s.moved.Load())
	}
	return s.position(off)
}

// offBits is the width of an offset within a segment, in units, in a Mark.
const offBits = 20
