package lsm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/overtake-stream/overtake/statecow"
)

// Store is keyed state in a directory. It implements statecow.Store; see doc.go
// for how it works. One goroutine, the owner, calls its methods.
type Store struct {
	// constant
	opts   Options
	lo, hi uint64 // hashes owned
	db     *pebble.DB
	cache  *pebble.Cache
	lock   *pebble.Lock
	guard  *guard
	sums   *sums

	// owner
	mark       statecow.Mark // of what is written now
	bases      bases
	tombs      int64 // bytes of records of deletions that may be there
	tombsNow   int64 // of these, with the present mark
	keys       counter
	expiry     sweeper
	unchecked  int // bytes written since the backlog was looked at
	key, value []byte
	lent       []byte // what Get lends
	closed     bool

	// atomic
	present atomic.Uint64 // mark, for tables begun in the background
	open    atomic.Int64  // snapshots and pending checkpoints
}

// counter counts keys: exactly while there are few, then by samples.
type counter struct {
	n   int
	rng *rand.Rand
}

const (
	exactKeys   = 4096
	sampleEvery = 64
)

// weight is how many puts the next one stands for; 0 if nobody needs to look.
func (c *counter) weight() int {
	if c.n < exactKeys {
		return 1
	}
	if c.rng.Uint32()%sampleEvery == 0 {
		return sampleEvery
	}
	return 0
}

func (c *counter) add(n int) { c.n = max(0, c.n+n) }

func (s *Store) owns(hash uint32) bool { return s.lo <= uint64(hash) && uint64(hash) < s.hi }

func (s *Store) check(hash uint32, key, value int) error {
	if !s.owns(hash) {
		return &statecow.GroupError{Group: statecow.KeyGroup(hash, s.opts.MaxGroups), Owned: s.opts.Groups}
	}
	if key > maxKey || value > maxValue {
		return fmt.Errorf("%w: key of %d and value of %d bytes", statecow.ErrSize, key, value)
	}
	return nil
}

// find lends the value of a key until release is closed, which is not nil if ok.
func (s *Store) find(hash uint32, key []byte) (value []byte, ok bool, release io.Closer, err error) {
	if err := s.usable(); err != nil {
		return nil, false, nil, err
	}
	s.key = appendData(s.key[:0], hash, key)
	raw, closer, err := s.db.Get(s.key)
	if err == pebble.ErrNotFound {
		return nil, false, nil, nil
	}
	if err != nil {
		return nil, false, nil, s.fault(err)
	}
	if _, value, ok = splitValue(raw); !ok {
		return nil, false, nil, errors.Join(s.fault(errEntry(s.key)), closer.Close())
	}
	return value, true, closer, nil
}

// errEntry: what is stored under a key is nothing that the store wrote.
func errEntry(k []byte) error { return fmt.Errorf("%w: entry of key %q", pebble.ErrCorruption, k) }

// usable is why the store cannot be used, if so.
func (s *Store) usable() error {
	if s.closed {
		return ErrClosed
	}
	return s.guard.err()
}

// fault types an error of Pebble.
func (s *Store) fault(err error) error { return typed(s.opts.Dir, err) }

// Get implements statecow.Store.
func (s *Store) Get(hash uint32, key []byte) ([]byte, bool, error) {
	value, ok, release, err := s.find(hash, key)
	if !ok {
		return nil, false, err
	}
	s.lent = append(s.lent[:0], value...)
	return s.lent, true, release.Close()
}

// has reports whether a key is there.
func (s *Store) has(hash uint32, key []byte) (bool, error) {
	_, ok, release, err := s.find(hash, key)
	if ok {
		err = release.Close()
	}
	return ok, err
}

// Put implements statecow.Store.
func (s *Store) Put(hash uint32, key, value []byte) error {
	if err := s.check(hash, len(key), len(value)); err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.sample(hash, key); err != nil {
		return err
	}
	return s.set(hash, key, value)
}

// sample counts a key that is about to be put, if it is its turn and it is new.
func (s *Store) sample(hash uint32, key []byte) error {
	w := s.keys.weight()
	if w == 0 {
		return nil
	}
	had, err := s.has(hash, key)
	if err == nil && !had {
		s.keys.add(w)
	}
	return err
}

// set writes an entry. It does not count it.
func (s *Store) set(hash uint32, key, value []byte) error {
	s.key = appendData(s.key[:0], hash, key)
	s.value = appendValue(s.value[:0], s.mark, value)
	if err := s.db.Set(s.key, s.value, pebble.NoSync); err != nil {
		return s.fault(err)
	}
	s.expiry.note(hash, key, value)
	return s.wrote(len(s.key) + len(s.value))
}

// Update implements statecow.Store. The value that f gets and the one that it
// returns may overlap.
func (s *Store) Update(hash uint32, key []byte, f func(old []byte, ok bool) (value []byte, keep bool)) error {
	old, ok, release, err := s.find(hash, key)
	if err != nil {
		return err
	}
	value, keep := f(old, ok)
	same := ok && keep && bytes.Equal(old, value)
	if keep && !same {
		s.value = appendValue(s.value[:0], s.mark, value)
	}
	if ok {
		if err := release.Close(); err != nil {
			return s.fault(err)
		}
	}
	switch {
	case same, !keep && !ok:
		return nil
	case !keep:
		return s.remove(hash, key)
	}
	_, value, _ = splitValue(s.value)
	if err := s.check(hash, len(key), len(value)); err != nil {
		return err
	}
	if err := s.db.Set(s.key, s.value, pebble.NoSync); err != nil {
		return s.fault(err)
	}
	if !ok {
		s.keys.add(1)
	}
	s.expiry.note(hash, key, value)
	return s.wrote(len(s.key) + len(s.value))
}

// Delete implements statecow.Store.
func (s *Store) Delete(hash uint32, key []byte) (bool, error) {
	ok, err := s.has(hash, key)
	if !ok || err != nil {
		return false, err
	}
	return true, s.remove(hash, key)
}

// remove deletes a key that is there.
func (s *Store) remove(hash uint32, key []byte) error {
	b := s.db.NewBatch()
	n, err := s.removeIn(b, hash, key)
	if err == nil {
		err = b.Commit(pebble.NoSync)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return s.fault(err)
	}
	s.keys.add(-1)
	return s.wrote(n)
}

// removeIn adds the deletion of a key to a batch, and a record of it if an
// increment may need it.
func (s *Store) removeIn(b *pebble.Batch, hash uint32, key []byte) (bytes int, err error) {
	s.key = appendData(s.key[:0], hash, key)
	n := len(s.key)
	if err := b.Delete(s.key, nil); err != nil {
		return 0, err
	}
	if len(s.bases.list) == 0 {
		return n, nil
	}
	s.value = appendTomb(s.value[:0], s.mark, hash, key)
	s.tombs += int64(len(s.value))
	s.tombsNow += int64(len(s.value))
	return n + len(s.value), b.Set(s.value, nil, nil)
}

// Len implements statecow.Store. From some thousand keys on it is an estimate.
func (s *Store) Len() int { return s.keys.n }

// Confirm implements statecow.Store.
func (s *Store) Confirm(mark statecow.Mark) {
	if s.bases.confirm(mark) {
		s.dropRecords()
	}
}

// Abandon implements statecow.Store.
func (s *Store) Abandon(mark statecow.Mark) {
	s.bases.abandon(mark)
	if len(s.bases.list) == 0 {
		s.dropRecords()
	}
}

// dropRecords drops the records of deletions that every base contains. A failure
// shows in the next operation.
func (s *Store) dropRecords() {
	if s.tombs == 0 || s.usable() != nil {
		return
	}
	oldest := s.mark
	if len(s.bases.list) > 0 {
		oldest = s.bases.list[0]
	}
	if err := s.db.DeleteRange(appendTombBound(nil, 0), appendTombBound(nil, oldest+1), pebble.NoSync); err != nil {
		s.guard.fail(err)
	}
	switch {
	case oldest == s.mark:
		s.tombs, s.tombsNow = 0, 0
	case oldest+1 == s.mark:
		s.tombs = s.tombsNow
	}
}

// Close implements statecow.Store. It fails while snapshots are open and can be
// repeated. It leaves the files, which are of no use: remove the directory.
func (s *Store) Close() error {
	if s.closed {
		return nil
	}
	if n := s.open.Load(); n > 0 {
		return fmt.Errorf("statecow/lsm: %d snapshots are open: release them before Close", n)
	}
	s.closed = true
	return s.shut()
}

// shut ends Pebble. Of a store that has failed it reports no more failures.
func (s *Store) shut() error {
	failed := s.guard.err() != nil
	close(s.guard.closing)
	err := errors.Join(s.db.Close(), s.lock.Close())
	s.cache.Unref()
	if failed {
		return nil
	}
	return typed(s.opts.Dir, err)
}
