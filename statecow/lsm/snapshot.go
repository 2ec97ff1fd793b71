package lsm

import (
	"io"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/overtake-stream/overtake/statecow"
)

// snapshot is a statecow.Snapshot: a sequence number of Pebble.
type snapshot struct {
	store  *Store // constants and atomics only
	db     *pebble.Snapshot
	mark   statecow.Mark
	keys   int
	bases  []statecow.Mark
	lo, hi uint64

	mu       sync.Mutex
	released bool
}

// Snapshot implements statecow.Store. It takes a lock of Pebble's for a moment and
// copies nothing.
func (s *Store) Snapshot() (statecow.Snapshot, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	shot := &snapshot{
		store: s, db: s.db.NewSnapshot(), mark: s.mark, keys: s.keys.n,
		bases: slices.Clone(s.bases.list), lo: s.lo, hi: s.hi,
	}
	s.open.Add(1)
	s.turn()
	return shot, nil
}

// turn ends the present mark, which becomes a base, and returns it.
func (s *Store) turn() statecow.Mark {
	mark := s.mark
	s.bases.add(mark)
	s.setMark(mark + 1)
	s.tombsNow = 0
	return mark
}

// setMark sets the mark of what is written from now on.
func (s *Store) setMark(mark statecow.Mark) {
	s.mark = mark
	s.present.Store(uint64(mark))
}

// Mark implements statecow.Snapshot.
func (s *snapshot) Mark() statecow.Mark { return s.mark }

// Len implements statecow.Snapshot; an estimate, as that of the store.
func (s *snapshot) Len() int { return s.keys }

// Release implements statecow.Snapshot.
func (s *snapshot) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return
	}
	s.released = true
	if err := s.db.Close(); err != nil {
		s.store.guard.fail(err)
	}
	s.store.open.Add(-1)
}

func (s *snapshot) usable(since statecow.Mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return statecow.ErrReleased
	}
	if since != 0 && !slices.Contains(s.bases, since) {
		return statecow.ErrBase
	}
	return s.store.guard.err()
}

// Entries implements statecow.Snapshot: deletions first, in the order of time, then
// entries in the order of hashes.
func (s *snapshot) Entries(since statecow.Mark, f func(statecow.Entry) error) error {
	if err := s.usable(since); err != nil {
		return err
	}
	if since != 0 {
		if err := eachTomb(s.db, since, s.mark, f); err != nil {
			return outcome(s.store.opts.Dir, err)
		}
	}
	return outcome(s.store.opts.Dir, eachEntry(s.db, s.lo, s.hi, since, f))
}

// Write implements statecow.Snapshot. Every block leaves in one call of w.Write,
// which gets memory that is reused afterwards.
func (s *snapshot) Write(w io.Writer, since statecow.Mark) (statecow.WriteStats, error) {
	if err := s.usable(since); err != nil {
		return statecow.WriteStats{}, err
	}
	b := statecow.NewStreamWriter(w, since, s.mark, s.keys)
	if err := s.Entries(since, b.Add); err != nil {
		return b.Stats(), err
	}
	return b.Close()
}
