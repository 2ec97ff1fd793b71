package statecow

import (
	"slices"
	"sync/atomic"
)

// snapshot is a Snapshot of a Map: a position in the log. Entries before it never
// change, their marks are versioned, and their segments stay until it is released.
type snapshot struct {
	// constant
	log    *log
	id     uint64 // 1 + snapshots taken before
	mark   Mark
	keys   int
	hot    head // the open segments and how far they were filled
	cold   head
	bases  [maxBases]Mark
	nBases int
	ended  [maxEnded]ended // entries that have ended, of which no marks tell yet
	nEnded int

	// atomic
	released atomic.Bool
}

// Snapshot implements Store. It takes constant time and never fails. It touches what lies
// together at the map's beginning, no segment and no marks: those of a large map are not
// in the cache.
func (m *Map) Snapshot() (Snapshot, error) {
	m.count()
	m.epoch++
	m.prepare()
	s := m.blank
	m.blank = nil
	s.id, s.mark, s.keys, s.hot, s.cold = m.epoch, m.tail(), m.index.count, m.hot, m.cold
	s.nEnded = copy(s.ended[:], m.ended[:m.ends])
	for i, b := range m.bases.list[:m.bases.n] {
		s.bases[i] = b.mark
	}
	s.nBases = m.bases.n
	m.bases.add(s.mark, m.tombs)
	m.open = append(m.open, s)
	m.newest = s.id
	m.frozen = s.mark
	return s, nil
}

// prepare allocates what the next snapshot needs, before it is taken: to allocate now
// and then takes far longer than all the rest of Snapshot, and so does the first write
// to what was allocated, if that memory is fresh.
func (m *Map) prepare() {
	if m.blank != nil {
		return
	}
	m.forget()
	s := &snapshot{log: &m.log}
	for i := range s.bases {
		s.bases[i] = ^Mark(0)
	}
	s.ended = m.ended // of no meaning yet: it is written to
	m.blank = s
	m.open = slices.Grow(m.open, 1)
}

// Mark implements Snapshot.
func (s *snapshot) Mark() Mark { return s.mark }

// Len implements Snapshot.
func (s *snapshot) Len() int { return s.keys }

// Oldest is a mark before which nothing was written that lives: a chain of increments
// restores the snapshot without what it has up to there, the full one included. It looks
// at all segments.
func (s *snapshot) Oldest() Mark {
	oldest := s.mark
	for _, seg := range s.segments() {
		if s.end(seg) > 0 {
			oldest = min(oldest, seg.from(0))
		}
	}
	return oldest
}

// Release implements Snapshot.
func (s *snapshot) Release() { s.released.Store(true) }

// Entries implements Snapshot.
func (s *snapshot) Entries(since Mark, f func(Entry) error) error {
	return s.parts(since, func(p part) error {
		for off := p.from; off < p.to; {
			e := s.log.layout.at(s.log.pointer(p.address(s.log, off)))
			if st := p.marks.get(off); p.wants(st) {
				if err := f(Entry{Hash: e.hash, Deleted: st == tombstone, Key: e.key, Value: e.value}); err != nil {
					return err
				}
			}
			off += e.units
		}
		return nil
	})
}

// part is what a snapshot sees of a segment.
type part struct {
	slot     uint32
	from, to uint32 // units
	marks    *marks
	deletes  bool // tombstones are wanted
}

func (p *part) wants(st entryState) bool {
	return st == live || st == fresh || st == tombstone && p.deletes
}

func (p *part) address(l *log, off uint32) address { return p.slot<<l.shift | off }

// usable reports an error if the changes since a base cannot be had.
func (s *snapshot) usable(since Mark) error {
	if s.released.Load() {
		return ErrReleased
	}
	if since != 0 && !slices.Contains(s.bases[:s.nBases], since) {
		return ErrBase
	}
	return nil
}

// parts lends the parts of the log that hold the changes since a base, in order.
func (s *snapshot) parts(since Mark, f func(part) error) error {
	if err := s.usable(since); err != nil {
		return err
	}
	for _, seg := range s.segments() {
		p := part{slot: seg.slot, to: s.end(seg), deletes: since != 0}
		if since != 0 {
			if seg.cold || seg.position(p.to) <= since {
				continue
			}
			if Mark(seg.seq) == since>>offBits {
				p.from = uint32(since & (1<<offBits - 1))
			}
		}
		if p.from == p.to {
			continue
		}
		p.marks = s.marksOf(seg)
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// marksOf are the marks of a segment as the snapshot sees them.
func (s *snapshot) marksOf(seg *segment) *marks {
	m, own := seg.marks.Load().seenBy(s.id), false
	for _, e := range s.ended[:s.nEnded] {
		if e.a>>s.log.shift != seg.slot {
			continue
		}
		if !own {
			m, own = &marks{bits: slices.Clone(m.bits)}, true
		}
		setState(m.bits, e.a&(1<<s.log.shift-1), dead)
	}
	return m
}

// segments are those that the snapshot sees, in the order of their creation.
func (s *snapshot) segments() (segs []*segment) {
	for i := range s.log.slots {
		if seg := s.log.slots[i].Load(); seg != nil && seg.sees(s.id) {
			segs = append(segs, seg)
		}
	}
	slices.SortFunc(segs, func(a, b *segment) int { return int(int64(a.seq - b.seq)) })
	return segs
}

// end is how far a segment was filled.
func (s *snapshot) end(seg *segment) uint32 {
	switch seg {
	case s.hot.seg:
		return s.hot.off
	case s.cold.seg:
		return s.cold.off
	}
	return seg.end
}
