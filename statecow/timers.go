package statecow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// Timer is a timer of a key and namespace. The slices are lent.
type Timer struct {
	At        int64
	Hash      uint32 // of Key, for the state look-up
	Key       []byte
	Namespace []byte
}

// Timers is a queue of timers. They are entries of a Map, often the one with the
// state of the same operator, so they are in its snapshots, which stay constant in
// time; order comes from a heap beside it of 16 bytes a timer, which no snapshot
// has and which is built anew after a restore. Other structures were set aside: a
// sorted copy-on-write tree makes every addition copy a path, and buckets by time
// need a width that fits the job.
//
// Timers fire in the order of time; those of one time in the order of their key
// group, then of the stored hash, key and namespace, which is the same before and
// after a restore and at any parallelism. Adding a timer that is there does
// nothing.
//
// A removed timer stays, marked as cancelled, until its ref is found: so every entry
// has one ref, and timers that are set and removed again and again do not pile up.
// When most are cancelled, every operation looks at a few and takes them out.
type Timers struct {
	// constant
	m  *Map
	id uint32

	// owner
	heap   timerHeap
	live   int
	cursor int    // of the search for cancelled timers
	path   []byte // scratch: a stored key
	firing []byte // scratch: that of the timer that fires
}

const (
	staleAtOnce = 4 // refs looked at by an operation when most are cancelled

	timerValue     = 5 // bytes: the hash of the key, and the state
	timerSet       = 1
	timerCancelled = 2
	timerAny       = 0
)

// NewTimers returns the queue of this name in m, with the timers that m holds.
// Create it after Restore. Close it before m.
func NewTimers(m *Map, name string) (*Timers, error) {
	if m.layout.fixed {
		return nil, fmt.Errorf("%w: timers need a map of the variable layout", ErrSize)
	}
	r, err := newRegion(int(m.opts.Budget), m.opts.heap)
	if err != nil {
		return nil, err
	}
	t := &Timers{m: m, id: stateID(name), heap: timerHeap{region: r}}
	m.rangeLog(func(hash uint32, key, value []byte) bool {
		if at, ok := t.timeOf(key); ok && len(value) == timerValue {
			if err = t.room(); err != nil {
				return false
			}
			t.heap.push(timerRef{at: at, hash: hash})
			if value[4] == timerSet {
				t.live++
			}
		}
		return true
	})
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Len is the number of timers.
func (t *Timers) Len() int { return t.live }

// Add adds a timer and reports whether it was not there. It lends key and
// namespace.
func (t *Timers) Add(at int64, hash uint32, key, namespace []byte) (bool, error) {
	stored := t.encode(at, hash, key, namespace)
	a := t.m.lookup(stored, t.path)
	if a != 0 && t.m.layout.value(t.m.pointer(a))[4] == timerSet {
		return false, nil
	}
	if a == 0 {
		if err := t.room(); err != nil {
			return false, err
		}
	}
	if err := t.put(stored, hash, timerSet); err != nil {
		return false, err
	}
	if a == 0 {
		t.heap.push(timerRef{at: at, hash: stored})
	}
	t.live++
	return true, t.dropCancelled()
}

// Remove removes a timer and reports whether it was there. It lends key and
// namespace.
func (t *Timers) Remove(at int64, hash uint32, key, namespace []byte) (bool, error) {
	stored := t.encode(at, hash, key, namespace)
	a := t.m.lookup(stored, t.path)
	if a == 0 || t.m.layout.value(t.m.pointer(a))[4] != timerSet {
		return false, nil
	}
	if err := t.put(stored, hash, timerCancelled); err != nil {
		return false, err
	}
	t.live--
	return true, t.dropCancelled()
}

// put stores the timer at t.path.
func (t *Timers) put(stored, hash uint32, state byte) error {
	var value [timerValue]byte
	binary.LittleEndian.PutUint32(value[:], hash)
	value[4] = state
	return t.m.Put(stored, t.path, value[:])
}

// Next is the time of the first timer; ok is false if there is none.
func (t *Timers) Next() (at int64, ok bool) {
	for t.heap.n > 0 {
		r := *t.heap.at(0)
		e, found := t.first(r, timerCancelled)
		if !found || t.live == t.heap.n {
			return r.at, true
		}
		if _, err := t.m.Delete(r.hash, append(t.firing[:0], e.key...)); err != nil {
			return r.at, true // Fire at that time will report it
		}
		t.heap.remove(0)
	}
	return 0, false
}

// Fire removes the timers up to and including now, in order, and lends each to f
// once it is removed. f may use the map, and add and remove timers: what it adds up
// to now fires too. An error of f ends it; timers not yet lent stay.
func (t *Timers) Fire(now int64, f func(Timer) error) error {
	path := t.firing
	t.firing = nil // f may come back here
	for t.heap.n > 0 && t.heap.at(0).at <= now {
		r := *t.heap.at(0)
		e, ok := t.first(r, timerAny)
		if invariant.Enabled {
			invariant.Check(ok, "statecow: a timer at %d is not stored", r.at)
		}
		if !ok {
			t.heap.remove(0)
			continue
		}
		path = append(path[:0], e.key...)
		hash, set := binary.LittleEndian.Uint32(e.value), e.value[4] == timerSet
		if _, err := t.m.Delete(r.hash, path); err != nil {
			return err
		}
		t.heap.remove(0)
		if !set {
			continue
		}
		t.live--
		if err := f(decodeTimer(r.at, hash, path)); err != nil {
			return err
		}
	}
	t.firing = path
	t.account(t.heap.trim)
	return nil
}

// group lends the stored timers of one time and hash: nearly always one.
func (t *Timers) group(r timerRef, f func(view)) {
	x, h := &t.m.index, scramble(r.hash)
	for pos := x.seek(h); ; pos++ {
		s := *x.at(pos)
		if s == 0 || scrambled(s>>32) != h {
			return
		}
		e := t.m.layout.at(t.m.pointer(address(s)))
		if at, ok := t.timeOf(e.key); ok && at == r.at {
			f(e)
		}
	}
}

// first is the stored timer of one time and hash that is first in the order of key
// and namespace, of those in a state.
func (t *Timers) first(r timerRef, state byte) (least view, ok bool) {
	t.group(r, func(e view) {
		if (state == timerAny || e.value[4] == state) && (!ok || compareTimers(e, least) < 0) {
			least, ok = e, true
		}
	})
	return least, ok
}

func compareTimers(a, b view) int {
	x, y := decodeTimer(0, 0, a.key), decodeTimer(0, 0, b.key)
	if c := bytes.Compare(x.Key, y.Key); c != 0 {
		return c
	}
	return bytes.Compare(x.Namespace, y.Namespace)
}

// Each lends all timers to f in the order in which they would fire, until f
// returns false. It sorts a copy of the heap. f must not use the map.
func (t *Timers) Each(f func(Timer) bool) {
	refs := make([]timerRef, t.heap.n)
	for i := range refs {
		refs[i] = *t.heap.at(i)
	}
	slices.SortFunc(refs, timerRef.compare)
	for _, r := range slices.Compact(refs) {
		var due []view
		t.group(r, func(e view) { due = append(due, e) })
		slices.SortFunc(due, compareTimers)
		for _, e := range due {
			if e.value[4] == timerSet && !f(decodeTimer(r.at, binary.LittleEndian.Uint32(e.value), e.key)) {
				return
			}
		}
	}
}

// Close frees the memory of the heap.
func (t *Timers) Close() error {
	t.account(func() { t.heap.limit, t.heap.n = 0, 0 })
	return t.heap.region.close()
}

// account keeps the map's count of the heap's memory while f changes it.
func (t *Timers) account(f func()) {
	before := t.heap.limit
	f()
	t.m.timers += int64(t.heap.limit-before) * int64(timerSize)
}

// dropCancelled looks at some refs and takes out cancelled timers, if most are.
func (t *Timers) dropCancelled() error {
	for range staleAtOnce {
		if t.heap.n <= 2*t.live+1024 {
			return nil
		}
		if t.cursor++; t.cursor >= t.heap.n {
			t.cursor = 0
		}
		r := *t.heap.at(t.cursor)
		e, ok := t.first(r, timerCancelled)
		if !ok {
			continue
		}
		t.path = append(t.path[:0], e.key...)
		if _, err := t.m.Delete(r.hash, t.path); err != nil {
			return err
		}
		t.heap.remove(t.cursor)
		t.cursor--
	}
	return nil
}

// room makes sure that a ref can be pushed, within the map's budget.
func (t *Timers) room() (err error) {
	if t.heap.n < t.heap.limit {
		return nil
	}
	need := int64(max(4096, t.heap.limit*timerSize/4))
	if used := t.m.inUse(); used+need > t.m.opts.Budget-reserve*t.m.segCost() {
		return &BudgetError{Need: need, Used: used, Budget: t.m.opts.Budget}
	}
	t.account(func() { err = t.heap.extend() })
	return err
}

// encode builds a timer's stored key in path and returns its stored hash:
//
//	| id u32 | timerPart u8 | time i64 | namespace length uvarint | namespace | key |
func (t *Timers) encode(at int64, hash uint32, key, namespace []byte) uint32 {
	b := binary.LittleEndian.AppendUint32(t.path[:0], t.id)
	b = append(b, timerPart)
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.AppendUvarint(b, uint64(len(namespace)))
	b = append(b, namespace...)
	t.path = append(b, key...)
	g := KeyGroup(hash, t.m.opts.MaxGroups)
	lo, hi := Groups{g, g + 1}.hashes(t.m.opts.MaxGroups)
	return uint32(lo + xxh3.Hash(t.path)>>32*(hi-lo)>>32)
}

const timerHead = 4 + 1 + 8

// timeOf is the time of a stored timer of this queue.
func (t *Timers) timeOf(path []byte) (at int64, ok bool) {
	if len(path) <= timerHead || path[4] != timerPart || binary.LittleEndian.Uint32(path) != t.id {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(path[5:])), true
}

func decodeTimer(at int64, hash uint32, path []byte) Timer {
	b := path[timerHead:]
	n, k := binary.Uvarint(b)
	b = b[k:]
	return Timer{At: at, Hash: hash, Namespace: b[:n:n], Key: b[n:]}
}
