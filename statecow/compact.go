package statecow

import "slices"

// cleaner is the compaction of the log: it takes the segment with the least live
// share among some, moves what lives to the open segments, a few entries at a
// time, and frees it. What every base has goes to cold segments, which increments
// skip, so compaction does not make them larger.
//
// A segment that an open snapshot sees may be taken, too: it is freed only when that
// snapshot is released, but with snapshots that overlap there is no other time for it.
// As that takes memory before it gives some back, such a segment has to be at least
// half garbage, and is left alone when memory is short.
type cleaner struct {
	victim  *segment
	renew   bool   // what lives there goes where new entries go
	cursor  uint32 // slot where the search goes on
	waitFor int64  // units filled before the next search: the last found nothing
	moved   int64  // units so far
	urgent  bool   // memory is needed now
	written address
	scratch []byte
}

const (
	searchAtOnce = 64  // segments looked at for a victim
	scanPerUnit  = 4   // units cleaned for each that is appended
	scanAtLeast  = 16  // units cleaned by an operation that appends
	worthwhile   = 250 // live share, in 256ths, below which a segment is cleaned
	worthHolding = 128 // and below which one that a snapshot sees is
	slackUnits   = 4   // segments of garbage that are always tolerated
)

// work does a share of the pending work after an operation.
func (m *Map) work() {
	if m.blank == nil {
		m.prepare()
	}
	if len(m.emptied) > 0 {
		m.retireEmptied()
	}
	if len(m.sparse) > 0 && m.clean.victim == nil {
		m.renewSparse()
	}
	if m.log.owed > 0 && (m.clean.victim != nil || m.dirty()) {
		m.compact(scanPerUnit*m.log.owed + scanAtLeast)
	}
	m.log.owed = 0
	if m.unchecked > 0 {
		m.freeSome(freeAtOnce)
	}
	if m.expiry != nil {
		m.expireSome(1)
	}
}

// dirty reports whether there is more garbage in the log than allowed.
func (m *Map) dirty() bool {
	wanted := (m.live + m.neededTombstones()) * (64 + m.garbage)
	return (m.filled-slackUnits*int64(m.segUnits))*64 > wanted && m.filled >= m.clean.waitFor
}

// compact cleans about n units.
func (m *Map) compact(n uint32) {
	c := &m.clean
	if c.victim == nil {
		c.renew = false
		if c.victim = m.findVictim(); c.victim == nil {
			c.waitFor = m.filled + int64(m.segUnits)
			return
		}
	}
	s := c.victim
	needed := s.live > 0 || m.tombstonesNeeded(s)
	for stop := s.scanned + n; needed && s.scanned < s.end && s.scanned < stop; {
		size := m.layout.size(m.pointer(s.slot<<m.shift | s.scanned))
		if !m.moveEntry(s, s.scanned, size) {
			return // no room: the next step tries again
		}
		s.scanned += size
	}
	if !needed || s.scanned >= s.end {
		c.victim = nil
		m.retireSegment(s)
	}
}

// tombstonesNeeded reports whether s may hold tombstones that increments need.
func (m *Map) tombstonesNeeded(s *segment) bool {
	return s.tombs > 0 && !m.bases.empty() && s.position(s.end) > m.bases.oldest()
}

// findVictim looks at some segments for the one with the least live share.
func (m *Map) findVictim() *segment {
	m.killPending()
	var best *segment
	bestShare, seenShare := int64(worthwhile), int64(worthHolding)
	if m.short() {
		seenShare = 1 // what is all garbage takes no memory
	}
	looked := 0
	for range m.unused {
		if m.clean.cursor++; m.clean.cursor >= m.unused {
			m.clean.cursor = 1
		}
		s := m.slots[m.clean.cursor].Load()
		if s == nil || s == m.hot.seg || s == m.cold.seg || s.retired.Load() != 0 {
			continue
		}
		limit := bestShare
		if s.birth < m.newest {
			limit = min(limit, seenShare)
		}
		keep := int64(s.live)
		if m.tombstonesNeeded(s) {
			keep += int64(s.tombs)
		}
		if share := keep * 256 / m.filledOf(s); share < limit {
			best, bestShare = s, share
		}
		if looked++; looked >= searchAtOnce && best != nil {
			break
		}
	}
	return best
}

// short reports whether memory is short: less than a quarter of the budget is free.
func (m *Map) short() bool { return m.clean.urgent || m.inUse() > m.opts.Budget/4*3 }

// filledOf is what a closed segment counts in filled.
func (l *log) filledOf(s *segment) int64 {
	if s.count > 1 {
		return int64(s.end)
	}
	return int64(l.segUnits)
}

// moveEntry moves one entry out of a segment if it is still needed, and reports
// false if there is no room for it.
func (m *Map) moveEntry(s *segment, off, units uint32) bool {
	switch s.marks.Load().get(off) {
	case dead:
		return true
	case tombstone:
		return m.moveTombstone(s, off, units)
	}
	a := s.slot<<m.shift | off
	e := m.layout.at(m.pointer(a))
	if m.index.findAddress(e.hash, a) < 0 {
		return true // about to be marked dead
	}
	if m.expired(e.key, e.value) {
		return m.expire(e.hash, a, e.key)
	}
	h := &m.hot
	if s.position(off) < m.bases.oldest() && !m.mutable(a) && !m.clean.renew {
		h = &m.cold
	}
	if m.room(h, units, false) != nil {
		return false
	}
	to := m.log.append(h, units)
	copy(m.bytesAt(to, units), m.bytesAt(a, units))
	t, at := m.segmentOf(to)
	if m.mutable(a) && s.marks.Load().get(off) == fresh {
		m.mark(t, at, fresh)
	}
	if from := uint64(s.from(off)); t.cold && from < t.moved.Load() {
		t.moved.Store(from)
	}
	m.clean.written = to
	m.noteDeadline(e.key, e.value)
	m.kill(a, units)
	*m.index.at(m.index.findAddress(e.hash, a)) = scramble(e.hash).slot(to)
	m.clean.moved += int64(units)
	return true
}

// moveTombstone keeps a deletion that an increment needs. One whose key was stored
// again is not: the stored entry says more. But then that entry is no longer fresh,
// for its deletion has to leave a tombstone again.
func (m *Map) moveTombstone(s *segment, off, units uint32) bool {
	if m.bases.empty() || s.position(off) < m.bases.oldest() {
		return true
	}
	e := m.layout.at(m.pointer(s.slot<<m.shift | off))
	if _, a := m.find(e.hash, e.key); a != 0 {
		if t, at := m.segmentOf(a); t.marks.Load().get(at) == fresh {
			m.mark(t, at, live)
		}
	} else {
		if m.room(&m.hot, units, false) != nil {
			return false
		}
		m.appendTombstone(e.hash, e.key)
	}
	m.tombs -= int64(units)
	m.mark(s, off, dead)
	return true
}

// retireSegment takes a segment out of use, and frees it unless a snapshot sees it.
func (m *Map) retireSegment(s *segment) {
	m.killPending()
	m.filled -= m.filledOf(s)
	s.retired.Store(m.epoch + 1)
	if m.held(s) {
		m.retire = append(m.retire, s)
		return
	}
	m.free(s)
}

// retireEmptied takes segments out of use in which nothing lives, however little garbage
// there is: keys that are changed together often lie together, and memory that was in use
// a moment ago is quicker than what the system has to clear first.
func (m *Map) retireEmptied() {
	m.killPending()
	for i, s := range m.emptied {
		if s.live == 0 && m.atRest(s) {
			m.retireSegment(s)
		}
		m.emptied[i] = nil
	}
	m.emptied = m.emptied[:0]
}

// atRest reports whether a segment is in use, but for nothing else: it is not being filled
// or cleaned, and has no tombstones that are needed.
func (m *Map) atRest(s *segment) bool {
	return s.retired.Load() == 0 && s != m.hot.seg && s != m.cold.seg && s != m.clean.victim && !m.tombstonesNeeded(s)
}

// lasting is how many snapshots later what lives in a sparse segment will hardly change
// by itself.
const lasting = 2

// renewSparse cleans the first segment in which next to nothing has lived for a while. That
// is written again, to the next increment: so nothing of older ones is needed.
func (m *Map) renewSparse() {
	for len(m.sparse) > 0 && m.sparse[0].epoch+lasting <= m.epoch {
		s := m.sparse[0].seg
		m.sparse = slices.Delete(m.sparse, 0, 1)
		if s.live > 0 && m.atRest(s) && !(s.birth < m.newest && m.short()) {
			m.clean.victim, m.clean.renew = s, true
			return
		}
	}
}

// compactNow cleans until need bytes are free or nothing is left to clean. It is
// for a map that is out of memory, the only case in which an operation waits.
func (m *Map) compactNow(need int64) {
	c := &m.clean
	limit := m.opts.Budget - reserve*m.segCost() - need
	if v := c.victim; v != nil && v.birth < m.newest && v.live > 0 {
		c.victim = nil // it would take memory now and give some back later
	}
	c.urgent = true
	for m.inUse() > limit {
		m.compact(m.segUnits)
		if c.victim == nil && c.waitFor > m.filled || c.victim != nil && c.victim.scanned < c.victim.end {
			break // nothing to clean, or no room for what lives
		}
	}
	c.urgent = false
}

// Maintain implements Store. A unit of work is about a hundred bytes of log, or
// some entries of the index.
func (m *Map) Maintain(n int) (more bool, err error) {
	m.reclaim()
	for range n {
		more = false
		if m.clean.victim != nil || m.dirty() {
			m.compact(scanAtLeast)
			more = m.clean.victim != nil || m.dirty()
		}
		more = m.index.step() || more
		if m.expiry != nil {
			more = m.expireSome(1) || more
		}
		if !more {
			m.trim(m.used / 8)
			return false, nil
		}
	}
	return more, nil
}
