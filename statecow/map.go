package statecow

import (
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// Map is keyed state in memory: a copy-on-write log with an index. It implements
// Store; see doc.go for how it works.
type Map struct {
	// constant
	opts    Options
	garbage int64  // Options.Garbage in 64ths
	lo, hi  uint64 // hashes owned

	// owner
	log
	index   index
	bases   bases
	clean   cleaner
	expiry  Expiry
	timers  int64  // bytes of timer queues beside the map
	touched uint64 // what Prefetch read, so that it has to
	sweep   sweeper
	closed  bool
}

// New returns an empty map for byte strings of any length.
func New(o Options) (*Map, error) { return newMap(layout{hash: Hash}, o) }

func newMap(l layout, o Options) (*Map, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := &Map{opts: o, garbage: int64(o.Garbage * 64)}
	m.lo, m.hi = o.Groups.hashes(o.MaxGroups)
	if err := m.log.init(l, o); err != nil {
		return nil, err
	}
	r, err := newRegion(int(o.Budget), o.heap)
	if err == nil {
		err = m.index.open(r, m.lo, m.hi)
	}
	if err != nil {
		return nil, errors.Join(err, m.log.region.close())
	}
	return m, nil
}

// Len is the number of keys.
func (m *Map) Len() int { return m.index.count }

// Get implements Store. The error is always nil.
func (m *Map) Get(hash uint32, key []byte) ([]byte, bool, error) {
	a := m.lookup(hash, key)
	if a == 0 {
		return nil, false, nil
	}
	return m.layout.value(m.pointer(a)), true, nil
}

// find returns the slot and address of a key, or the slot where it belongs and 0.
func (m *Map) find(hash uint32, key []byte) (int, address) {
	if !m.index.owns(hash) {
		return 0, 0
	}
	pos := m.index.seek(hash)
	for {
		s := *m.index.at(pos)
		if s == 0 || uint32(s>>32) != hash {
			return pos, 0
		}
		if m.layout.matches(m.pointer(address(s)), key) {
			return pos, address(s)
		}
		pos++
	}
}

// locate is find for a key that is probably there.
func (m *Map) locate(hash uint32, key []byte) (int, address) {
	if pos, a := m.index.probe(hash); a != 0 && m.layout.matches(m.pointer(a), key) {
		return pos, a
	}
	return m.find(hash, key)
}

// lookup returns the address of a key, or 0.
func (m *Map) lookup(hash uint32, key []byte) address {
	_, a := m.locate(hash, key)
	return a
}

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

// Put implements Store.
func (m *Map) Put(hash uint32, key, value []byte) error {
	dst, _, err := m.upsert(hash, key, len(value))
	if err != nil {
		return err
	}
	copy(dst, value)
	m.noteDeadline(key, dst)
	m.work()
	return nil
}

// Upsert finds or adds a key, gives its value n bytes and shares them for reading
// and writing in place until the next operation. A new value is zero; one whose
// size changes keeps what fits and is zero behind it. Where entries expire, use
// Put or Update, which know the deadline. It lends key.
func (m *Map) Upsert(hash uint32, key []byte, n int) (value []byte, added bool, err error) {
	if value, added, err = m.upsert(hash, key, n); err == nil {
		m.work()
	}
	return value, added, err
}

// upsert is Upsert without the work that follows, which leaves the open segment
// alone, and so what was written there.
func (m *Map) upsert(hash uint32, key []byte, n int) (value []byte, added bool, err error) {
	if err := m.layout.check(len(key), n); err != nil {
		return nil, false, err
	}
	pos, a := m.locate(hash, key)
	if a == 0 {
		a, err = m.insert(pos, hash, key, n)
		added = true
	} else {
		a, err = m.write(pos, a, hash, key, n)
	}
	if err != nil {
		return nil, false, err
	}
	m.clean.written = a
	return m.layout.value(m.pointer(a)), added, nil
}

// Update implements Store.
func (m *Map) Update(hash uint32, key []byte, f func(old []byte, ok bool) (value []byte, keep bool)) error {
	pos, a := m.locate(hash, key)
	var old []byte
	if a != 0 {
		old = m.layout.value(m.pointer(a))
	}
	value, keep := f(old, a != 0)
	if keep && a != 0 && sameBytes(old, value) {
		return nil
	}
	if !keep {
		if a == 0 {
			return nil
		}
		return m.remove(pos, a, hash, key)
	}
	if err := m.layout.check(len(key), len(value)); err != nil {
		return err
	}
	var err error
	if a == 0 {
		a, err = m.insert(pos, hash, key, len(value))
	} else if !m.inPlace(a, len(key), len(value)) || len(value) != len(old) {
		a, err = m.write(pos, a, hash, key, len(value))
	}
	if err != nil {
		return err
	}
	m.clean.written = a
	dst := m.layout.value(m.pointer(a))
	copy(dst, value)
	m.noteDeadline(key, dst)
	m.work()
	return nil
}

// Delete implements Store.
func (m *Map) Delete(hash uint32, key []byte) (bool, error) {
	pos, a := m.locate(hash, key)
	if a == 0 {
		return false, nil
	}
	return true, m.remove(pos, a, hash, key)
}

// insert adds a key at slot pos with a zero value.
func (m *Map) insert(pos int, hash uint32, key []byte, n int) (address, error) {
	if !m.index.owns(hash) {
		return 0, &GroupError{Group: KeyGroup(hash, m.opts.MaxGroups), Owned: m.opts.Groups}
	}
	units := m.layout.units(len(key), n)
	if err := m.room(&m.hot, units, true); err != nil {
		return 0, err
	}
	pos = m.index.seek(hash) // making room may have moved entries
	if err := m.index.room(pos); err != nil {
		return 0, err
	}
	a := m.log.append(&m.hot, units)
	clear(m.layout.put(m.pointer(a), hash, key, n))
	if !m.bases.empty() {
		s, off := m.segmentOf(a)
		m.mark(s, off, fresh)
	}
	m.index.insert(pos, hash, a)
	m.index.grow(m.spareBytes())
	return a, nil
}

// inPlace reports whether the entry at a may get a value of n bytes where it is.
func (m *Map) inPlace(a address, key, n int) bool {
	return m.mutable(a) && (m.layout.fixed || m.layout.size(m.pointer(a)) == m.layout.units(key, n))
}

// write makes the value of the entry at a changeable, with n bytes, and returns
// where it now is.
func (m *Map) write(pos int, a address, hash uint32, key []byte, n int) (address, error) {
	p := m.pointer(a)
	old := m.layout.value(p)
	if m.inPlace(a, len(key), n) {
		if n != len(old) {
			m.resize(a, hash, key, n)
		}
		return a, nil
	}
	return m.replace(pos, a, hash, key, n)
}

// resize gives the value of the entry at a another size within the same units. The
// key moves with its end, so what is kept of the value is set aside.
func (m *Map) resize(a address, hash uint32, key []byte, n int) {
	p := m.pointer(a)
	m.clean.scratch = append(m.clean.scratch[:0], m.layout.value(p)...)
	dst := m.layout.put(p, hash, key, n)
	clear(dst[copy(dst, m.clean.scratch):])
}

// replace appends a copy of the entry at a, with n bytes of value, and ends the
// old one.
func (m *Map) replace(pos int, a address, hash uint32, key []byte, n int) (address, error) {
	units := m.layout.units(len(key), n)
	if m.needs(&m.hot, units) > 0 {
		if err := m.room(&m.hot, units, true); err != nil {
			return 0, err
		}
		if pos, a = m.find(hash, key); a == 0 { // it expired meanwhile
			return m.insert(pos, hash, key, n)
		}
	}
	s, off := m.segmentOf(a)
	wasFresh := !m.bases.empty() && m.mutable(a) && s.marks.Load().get(off) == fresh
	old := m.layout.size(m.pointer(a))
	to := m.log.append(&m.hot, units)
	m.copyEntry(to, a, hash, key, n)
	if wasFresh {
		seg, at := m.segmentOf(to)
		m.mark(seg, at, fresh)
	}
	m.killLater(a, old)
	*m.index.at(pos) = uint64(hash)<<32 | uint64(to)
	return to, nil
}

// killLater is kill for an entry that the index no longer has. Marks are far apart
// in memory: a row of them costs hardly more than one.
func (m *Map) killLater(a address, n uint32) {
	if m.ends == len(m.ended) {
		m.killPending()
	}
	m.ended[m.ends] = ended{a, n}
	m.ends++
}

// killPending does what killLater put off. It looks for released snapshots first:
// marks that none sees need no copy.
func (m *Map) killPending() {
	if m.ends == 0 {
		return
	}
	m.forget()
	for _, e := range m.ended[:m.ends] {
		m.kill(e.a, e.units)
	}
	m.ends = 0
}

// copyEntry writes a copy of the entry at a, with n bytes of value, to another
// place.
func (m *Map) copyEntry(to, a address, hash uint32, key []byte, n int) {
	from := m.pointer(a)
	if m.layout.fixed {
		copy(m.bytesAt(to, m.layout.units(0, 0)), m.bytesAt(a, m.layout.units(0, 0)))
		return
	}
	dst := m.layout.put(m.pointer(to), hash, key, n)
	clear(dst[copy(dst, m.layout.value(from)):])
}

// remove deletes the entry at a, leaving a tombstone if an increment will need it.
func (m *Map) remove(pos int, a address, hash uint32, key []byte) error {
	err := m.dropEntry(pos, a, hash, key)
	if err == nil {
		m.work()
	}
	return err
}

// dropEntry is remove without the work that follows.
func (m *Map) dropEntry(pos int, a address, hash uint32, key []byte) error {
	s, off := m.segmentOf(a)
	units := m.layout.size(m.pointer(a))
	state := s.marks.Load().get(off)
	switch {
	case m.bases.empty(), m.mutable(a) && state == fresh:
		m.kill(a, units)
	case m.mutable(a):
		m.mark(s, off, tombstone)
		s.live -= units
		m.live -= int64(units)
		m.countTombstone(s, units)
	default:
		n := m.layout.units(len(key), m.layout.valueSize)
		if err := m.room(&m.hot, n, false); err != nil {
			return err
		}
		m.appendTombstone(hash, key)
		m.kill(a, units)
	}
	m.index.remove(pos)
	m.index.shrink()
	return nil
}

// appendTombstone appends a deletion; there is room.
func (m *Map) appendTombstone(hash uint32, key []byte) {
	n := m.layout.units(len(key), m.layout.valueSize)
	a := m.log.append(&m.hot, n)
	clear(m.layout.put(m.pointer(a), hash, key, m.layout.valueSize))
	s, off := m.segmentOf(a)
	m.mark(s, off, tombstone)
	s.live -= n
	m.live -= int64(n)
	m.countTombstone(s, n)
}

func (m *Map) countTombstone(s *segment, units uint32) {
	s.tombs += units
	m.tombs += int64(units)
}

// Close implements Store. It fails while snapshots are open and can be repeated.
func (m *Map) Close() error {
	if m.closed {
		return nil
	}
	m.killPending()
	m.reclaim()
	if len(m.open) > 0 {
		return fmt.Errorf("statecow: %d snapshots are open: release them before Close", len(m.open))
	}
	m.closed = true
	return errors.Join(m.log.region.close(), m.index.region.close())
}

// check panics in builds with invariants if a is not a live entry.
func (m *Map) check(a address) {
	if invariant.Enabled {
		s, off := m.segmentOf(a)
		invariant.Check(s != nil && off < s.end, "statecow: address %d is not in use", a)
		st := s.marks.Load().get(off)
		invariant.Check(st == live || st == fresh, "statecow: address %d has state %d", a, st)
	}
}
