package statecow

// Prefetch brings the entries of these hashes into the processor's cache, for
// operations that follow soon: the cache misses of all of them overlap, where those
// of one operation after the other hardly do. Some tens of hashes at a time, a
// buffer of records, say, make random updates of a large map several times faster.
func (m *Map) Prefetch(hashes []uint32) {
	const atOnce = 64
	var found [atOnce]address
	for len(hashes) > 0 {
		n := min(len(hashes), atOnce)
		touched := m.index.touch(hashes[:n])
		for i, h := range hashes[:n] {
			_, found[i] = m.index.probe(h)
		}
		for _, a := range found[:n] {
			if a != 0 {
				touched |= m.word(a)
			}
		}
		m.touched = touched
		hashes = hashes[n:]
	}
}
