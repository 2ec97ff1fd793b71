package statecow

// reserve is how many segments only deletions and compaction may take, so that a
// full map can be emptied.
const reserve = 3

// segCost is the memory of a segment and its marks.
func (m *Map) segCost() int64 { return int64(m.segSize + m.segSize/64) }

// inUse is the memory that is needed now.
func (m *Map) inUse() int64 { return int64(m.used)*m.segCost() + m.index.bytes() + m.timers }

// spareBytes is how much the index may grow.
func (m *Map) spareBytes() int64 { return m.opts.Budget - m.inUse() - reserve*m.segCost() }

// room makes sure that an entry of n units can be appended to h. It may move
// entries: addresses and slots found before are stale if needs was not 0.
func (m *Map) room(h *head, n uint32, user bool) error {
	need := m.needs(h, n)
	if need == 0 {
		return nil
	}
	m.reclaim()
	limit := m.opts.Budget
	if user {
		limit -= reserve * m.segCost()
	}
	cost := int64(need) * m.segCost()
	if user && m.inUse()+cost > limit {
		m.compactNow(cost)
	}
	if used := m.inUse(); used+cost > limit || !m.hasRun(uint32(need)) {
		return &BudgetError{Need: cost, Used: used, Budget: m.opts.Budget}
	}
	m.trim(int(max(0, (m.opts.Budget-m.inUse())/m.segCost())))
	return m.commit(need)
}

// reclaim frees what released snapshots held.
func (m *Map) reclaim() {
	open := m.open[:0]
	for _, s := range m.open {
		if !s.released.Load() {
			open = append(open, s)
		}
	}
	if len(open) == len(m.open) {
		return
	}
	clear(m.open[len(open):])
	m.open, m.newest = open, 0
	if n := len(open); n > 0 {
		m.newest = open[n-1].id
	}
	m.clean.waitFor = 0
	held := m.retire[:0]
	for _, s := range m.retire {
		if m.held(s) {
			held = append(held, s)
		} else {
			m.free(s)
		}
	}
	clear(m.retire[len(held):])
	m.retire = held
}

// held reports whether an open snapshot sees the segment.
func (l *log) held(s *segment) bool {
	for _, o := range l.open {
		if s.sees(o.id) {
			return true
		}
	}
	return false
}

// Stats implements Store.
func (m *Map) Stats() Stats {
	m.reclaim()
	var held int64
	for _, s := range m.retire {
		held += int64(s.count)
	}
	return Stats{
		Keys:           m.index.count,
		LiveBytes:      m.live * unit,
		LogBytes:       int64(m.used) * int64(m.segSize),
		HeldBytes:      held * int64(m.segSize),
		IndexBytes:     m.index.bytes(),
		MemoryBytes:    m.log.bytes() + m.index.bytes() + m.timers,
		Snapshots:      len(m.open),
		Compacted:      m.clean.moved * unit,
		Expired:        m.sweep.expired,
		TombstoneBytes: m.neededTombstones() * unit,
	}
}
