package statecow

import "github.com/overtake-stream/overtake/internal/invariant"

// check panics in builds with invariants if there is no live entry at a.
func (m *Map) check(a address) {
	if !invariant.Enabled {
		return
	}
	m.count()
	s, off := m.segmentOf(a)
	if s == nil || off >= s.end || s.marks.Load().get(off) > fresh {
		invariant.Check(false, "statecow: no entry lives at address %d", a)
	}
}
