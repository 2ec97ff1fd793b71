package statecow

import (
	"errors"
	"fmt"
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
	blank   *snapshot // for the next Snapshot; nil for a while after one
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

// LiveBytes is Stats.LiveBytes, but without the work that Stats does first: entries that
// have just been replaced may be counted twice.
func (m *Map) LiveBytes() int64 { return m.live * unit }

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
	h := scramble(hash)
	pos := m.index.seek(h)
	for {
		s := *m.index.at(pos)
		if s == 0 || scrambled(s>>32) != h {
			return pos, 0
		}
		if m.layout.matches(m.pointer(address(s)), key) {
			m.check(address(s))
			return pos, address(s)
		}
		pos++
	}
}

// locate is find for a key that is probably there.
func (m *Map) locate(hash uint32, key []byte) (int, address) {
	if pos, a := m.index.probe(hash); a != 0 && m.layout.matches(m.pointer(a), key) {
		m.check(a)
		return pos, a
	}
	return m.find(hash, key)
}

// lookup returns the address of a key, or 0.
func (m *Map) lookup(hash uint32, key []byte) address {
	_, a := m.locate(hash, key)
	return a
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
