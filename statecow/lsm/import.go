package lsm

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/overtake-stream/overtake/statecow"
)

// Import adds the owned groups of a checkpoint to the store, which must not hold
// keys of these groups yet: so a subtask takes over groups of several predecessors.
// The checkpoint stays as it is. What is imported counts as written now: it is part
// of the next increment. After an error, close the store.
func (s *Store) Import(from string) error {
	if err := s.usable(); err != nil {
		return err
	}
	fs := s.opts.FS
	c, err := ReadCheckpoint(fs, from)
	if err != nil {
		return err
	}
	lo, hi := hashes(c.Groups, c.MaxGroups)
	lo, hi = max(lo, s.lo), min(hi, s.hi)
	if lo >= hi {
		return nil
	}
	dir := fs.PathJoin(s.opts.Dir, "import.tmp")
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return s.fault(err)
	}
	if err = c.link(fs, from, dir); err == nil {
		err = s.importFrom(dir, lo, hi)
	}
	return s.fault(errors.Join(err, fs.RemoveAll(dir)))
}

// importFrom adds the entries of Pebble's files in dir.
func (s *Store) importFrom(dir string, lo, hi uint64) error {
	g := newGuard(dir)
	defer close(g.closing)
	o := s.opts.pebble(g, &s.present)
	o.ReadOnly, o.CacheSize = true, 8<<20
	db, err := pebble.Open(dir, o)
	if err != nil {
		return typed(dir, err)
	}
	l := s.newLoader(true, ingestFrom)
	err = outcome(dir, eachEntry(db, lo, hi, 0, func(e statecow.Entry) error { return s.fault(l.append(e)) }))
	return errors.Join(err, l.close(err == nil), typed(dir, db.Close()))
}
