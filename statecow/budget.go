package statecow

// reserve is how many segments only deletions and compaction may take, so that a
// full map can be emptied.
const reserve = 3

// freeAtOnce is how many retired segments an operation looks at.
const freeAtOnce = 2

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
	m.forget()
	m.freeSome(freeAtOnce)
	limit := m.opts.Budget
	if user {
		limit -= reserve * m.segCost()
	}
	cost := int64(need) * m.segCost()
	for m.inUse()+cost > limit && m.unchecked > 0 {
		m.freeSome(freeAtOnce)
	}
	if user && m.inUse()+cost > limit {
		m.compactNow(cost)
	}
	if used := m.inUse(); used+cost > limit || !m.hasRun(uint32(need)) {
		return &BudgetError{Need: cost, Used: used, Budget: m.opts.Budget}
	}
	m.trim(int(max(0, (m.opts.Budget-m.inUse())/m.segCost())))
	return m.commit(need)
}

// forget notices which snapshots were released. What they held is freed by
// freeSome, a few segments at a time.
func (m *Map) forget() {
	if len(m.open) == 0 {
		return
	}
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
	m.unchecked = len(m.retire)
}

// freeSome frees up to n of the retired segments that no snapshot sees any more.
func (m *Map) freeSome(n int) {
	for ; n > 0 && m.unchecked > 0; n-- {
		m.unchecked--
		s := m.retire[m.unchecked]
		if m.held(s) {
			continue
		}
		last := len(m.retire) - 1
		m.retire[m.unchecked] = m.retire[last]
		m.retire[last] = nil
		m.retire = m.retire[:last]
		m.free(s)
	}
}

// reclaim frees all that released snapshots held.
func (m *Map) reclaim() {
	m.forget()
	m.freeSome(m.unchecked)
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
	m.killPending()
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
