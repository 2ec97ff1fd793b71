package statecow

// sweeper removes expired entries. Every segment knows the earliest deadline of its
// entries, so that only segments in which something has expired are read.
type sweeper struct {
	seg     *segment
	off     uint32
	next    [expiryClocks]int64 // earliest deadlines found by the reading under way
	cursor  uint32              // slot where the search goes on
	quiet   uint32              // slots looked at since something was found
	expired int64               // entries removed so far
}

const (
	sweepSegments = 4 // looked at by a step
	sweepEntries  = 8 // read by a step
)

// SetExpiry implements Store. Entries stored before count when they are written
// again.
func (m *Map) SetExpiry(e Expiry) {
	m.count()
	m.expiry = e
}

func (m *Map) noteDeadline(key, value []byte) {
	if m.expiry == nil {
		return
	}
	clock, at := m.expiry.Deadline(key, value)
	if s, _ := m.segmentOf(m.clean.written); at < s.deadlines[clock] {
		s.deadlines[clock] = at
	}
}

func (m *Map) expired(key, value []byte) bool {
	if m.expiry == nil {
		return false
	}
	clock, at := m.expiry.Deadline(key, value)
	return at != NoDeadline && at <= m.expiry.Now(clock)
}

// expire removes an expired entry and reports false if there was no room for its
// tombstone.
func (m *Map) expire(hash uint32, a address, key []byte) bool {
	m.clean.scratch = append(m.clean.scratch[:0], key...)
	if m.dropEntry(m.index.findAddress(hash, a), a, hash, m.clean.scratch) != nil {
		return false
	}
	m.sweep.expired++
	return true
}

// expireSome looks for segments with expired entries, reads some entries of one,
// and reports whether there is more to do.
func (m *Map) expireSome(n int) bool {
	w := &m.sweep
	for range n {
		if w.seg != nil && w.seg.retired.Load() != 0 {
			w.seg = nil
		}
		if w.seg == nil {
			if !m.nextExpired() {
				return w.quiet < m.unused
			}
		}
		m.sweepSegment()
	}
	return true
}

// nextExpired moves the search on and reports whether it found a segment.
func (m *Map) nextExpired() bool {
	w := &m.sweep
	for range sweepSegments {
		w.quiet++
		if w.cursor++; w.cursor >= m.unused {
			w.cursor = 0
		}
		s := m.slots[w.cursor].Load()
		if s == nil || s.retired.Load() != 0 || s.live == 0 {
			continue
		}
		for c, at := range s.deadlines {
			if at != NoDeadline && at <= m.expiry.Now(ExpiryClock(c)) {
				w.seg, w.off, w.quiet = s, 0, 0
				s.deadlines = [expiryClocks]int64{NoDeadline, NoDeadline}
				w.next = s.deadlines
				return true
			}
		}
	}
	return false
}

// sweepSegment reads some entries of the segment and removes what has expired.
func (m *Map) sweepSegment() {
	m.killPending()
	w, s := &m.sweep, m.sweep.seg
	for range sweepEntries {
		if w.off >= s.end {
			for c, at := range w.next {
				s.deadlines[c] = min(s.deadlines[c], at)
			}
			w.seg = nil
			return
		}
		a := s.slot<<m.shift | w.off
		e := m.layout.at(m.pointer(a))
		if st := s.marks.Load().get(w.off); st <= fresh {
			clock, at := m.expiry.Deadline(e.key, e.value)
			if at == NoDeadline || at > m.expiry.Now(clock) {
				w.next[clock] = min(w.next[clock], at)
			} else if !m.expire(e.hash, a, e.key) {
				w.next[clock] = min(w.next[clock], at)
			}
		}
		w.off += e.units
	}
}
