package statecow

import "testing"

// checkIndex verifies that the index is sorted, that no empty slot hides an entry
// from its home, and that every entry of the log that lives is in it once.
func checkIndex(t testing.TB, m *Map) {
	t.Helper()
	m.killPending()
	x := &m.index
	prev, n, empty := uint64(0), 0, -1
	for pos := 0; pos < x.limit; pos++ {
		s := *x.at(pos)
		if s == 0 {
			empty = pos
			continue
		}
		n++
		if s>>32 < prev {
			t.Fatalf("slot %d: hash %x after %x", pos, s>>32, prev)
		}
		prev = s >> 32
		if home := x.home(scrambled(prev)); home > pos || home <= empty {
			t.Fatalf("slot %d has home %d, slot %d is empty (n %d, target %d, frontier %x)", pos, home, empty, x.n, x.target, x.frontier)
		}
		if x.target < x.n && prev >= x.frontier && pos < x.cursor || x.target > x.n && prev < x.frontier && pos >= x.cursor {
			t.Fatalf("slot %d: hash %x has not moved, but the cursor is past it: %d (n %d, target %d, frontier %x)", pos, prev, x.cursor, x.n, x.target, x.frontier)
		}
	}
	if n != x.count {
		t.Fatalf("index holds %d entries and counts %d", n, x.count)
	}
	if *x.at(x.limit - 1) != 0 {
		t.Fatal("the last slot is not empty")
	}
	checkLog(t, m)
}

// checkLog verifies the live counts of every segment against its marks and index.
func checkLog(t testing.TB, m *Map) {
	t.Helper()
	total, filled, entries := int64(0), int64(0), 0
	for i := uint32(1); i < m.unused; i++ {
		s := m.slots[i].Load()
		if s == nil || s.retired.Load() != 0 {
			continue
		}
		lives := uint32(0)
		for off := uint32(0); off < s.end; {
			a := i<<m.shift | off
			e := m.layout.at(m.pointer(a))
			if s.marks.Load().get(off) <= fresh {
				lives += e.units
				entries++
				if m.index.findAddress(e.hash, a) < 0 {
					t.Fatalf("live entry %d is not in the index", a)
				}
			}
			off += e.units
		}
		if lives != s.live {
			t.Fatalf("segment %d counts %d live units, has %d", i, s.live, lives)
		}
		total += int64(lives)
		if s == m.hot.seg || s == m.cold.seg {
			filled += int64(s.end)
		} else {
			filled += m.filledOf(s)
		}
	}
	if total != m.live || filled != m.filled || entries != m.index.count {
		t.Fatalf("log has %d live units, %d filled, %d entries; counts %d, %d, %d", total, filled, entries, m.live, m.filled, m.index.count)
	}
}
