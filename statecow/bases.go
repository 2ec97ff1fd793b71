package statecow

// maxBases is how many snapshots may wait for Confirm or Abandon. When one more is
// taken, the oldest that waits is abandoned, so that a job that never confirms
// does not keep deletions forever.
const maxBases = 16

// bases are the marks since which an increment may be asked for, in ascending
// order. The first is what all others contain.
type bases struct {
	list  [maxBases]base
	n     int
	known bool // the first was confirmed
}

type base struct {
	mark  Mark
	tombs int64 // units of tombstones appended before
	refs  int   // snapshots with this mark: more than one if nothing was written between
}

func (b *bases) empty() bool { return b.n == 0 }

// oldest is the first base; with none, everything is in every base.
func (b *bases) oldest() Mark {
	if b.n == 0 {
		return ^Mark(0)
	}
	return b.list[0].mark
}

func (b *bases) add(mark Mark, tombs int64) {
	if b.n > 0 && b.list[b.n-1].mark == mark {
		b.list[b.n-1].refs++
		return
	}
	if b.n == maxBases {
		i := 0
		if b.known {
			i = 1
		}
		b.remove(i)
	}
	b.list[b.n] = base{mark, tombs, 1}
	b.n++
}

func (b *bases) remove(i int) {
	copy(b.list[i:], b.list[i+1:b.n])
	b.n--
	b.known = b.known && i > 0
}

func (b *bases) find(mark Mark) int {
	for i, x := range b.list[:b.n] {
		if x.mark == mark {
			return i
		}
	}
	return -1
}

// Confirm implements Store.
func (m *Map) Confirm(mark Mark) {
	i := m.bases.find(mark)
	if i < 0 {
		return
	}
	copy(m.bases.list[:], m.bases.list[i:m.bases.n])
	m.bases.n -= i
	m.bases.known = true
	m.clean.waitFor = 0
}

// Abandon implements Store.
func (m *Map) Abandon(mark Mark) {
	b := &m.bases
	i := b.find(mark)
	if i < 0 || i == 0 && b.known {
		return
	}
	if b.list[i].refs--; b.list[i].refs == 0 {
		b.remove(i)
	}
}

// neededTombstones is how many units of tombstones an increment may need.
func (m *Map) neededTombstones() int64 {
	if m.bases.empty() {
		return 0
	}
	return max(0, m.tombs-m.bases.list[0].tombs)
}
