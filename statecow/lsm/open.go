package lsm

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/overtake-stream/overtake/statecow"
)

// New returns an empty store in an empty directory. Errors: those of
// Options.Validate, *DirError, *DiskError.
func New(o Options) (*Store, error) {
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := s.start(false); err != nil {
		return nil, err
	}
	return s, nil
}

// Open returns a store with the state of a checkpoint, which stays as it is: tables
// are linked, or copied if that is impossible. Groups that the store does not own
// are dropped. The checkpoint is the base of the first increment. Errors: as of New
// and ReadCheckpoint.
func Open(o Options, from string) (*Store, error) {
	o = o.withDefaults()
	c, err := ReadCheckpoint(o.FS, from)
	if err != nil {
		return nil, err
	}
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := c.link(o.FS, from, o.Dir); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	s.setMark(c.Mark + 1)
	if err := s.start(true); err != nil {
		return nil, err
	}
	if err := s.adopt(c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// adopt goes on from a checkpoint whose files are in place.
func (s *Store) adopt(c Checkpoint) error {
	s.bases = bases{list: []statecow.Mark{c.Mark}, known: true}
	s.sums.add(c.Files)
	lo, hi := hashes(c.Groups, c.MaxGroups)
	for _, cut := range [][2]uint64{{lo, min(hi, s.lo)}, {max(lo, s.hi), hi}} {
		if cut[0] < cut[1] {
			if err := s.db.DeleteRange(appendBound(nil, cut[0]), appendBound(nil, cut[1]), pebble.NoSync); err != nil {
				return s.fault(err)
			}
		}
	}
	if err := s.db.DeleteRange(appendTombBound(nil, 0), appendTombBound(nil, s.mark), pebble.NoSync); err != nil {
		return s.fault(err)
	}
	if l, h := max(lo, s.lo), min(hi, s.hi); l < h {
		s.keys.n = int(float64(c.Keys) * float64(h-l) / float64(hi-lo))
	}
	return s.recount()
}

// prepare returns a store that has locked an empty directory, and nothing more.
func prepare(o Options) (*Store, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Store{opts: o, guard: newGuard(o.Dir), sums: &sums{known: map[string]File{}}}
	s.setMark(1)
	s.lo, s.hi = hashes(o.Groups, o.MaxGroups)
	s.expiry.lo, s.expiry.hi = s.lo, s.hi
	s.keys.rng = rand.New(rand.NewPCG(s.lo, s.hi))
	if err := o.FS.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, s.fault(err)
	}
	lock, err := pebble.LockDirectory(o.Dir, o.FS)
	if err != nil {
		return nil, lockError(o.Dir, err)
	}
	s.lock = lock
	names, err := o.FS.List(o.Dir)
	if err == nil {
		err = empty(o.Dir, names)
	}
	if err != nil {
		return nil, s.fault(errors.Join(err, lock.Close()))
	}
	return s, nil
}

// lockError tells a lock that is taken from one that cannot be made.
func lockError(dir string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) || vfs.IsNoSpaceError(err) {
		return typed(dir, err)
	}
	return &DirError{Dir: dir, Kind: ErrLocked, Detail: err.Error()}
}

// empty reports what is in a directory beside its lock.
func empty(dir string, names []string) error {
	for _, n := range names {
		if n != "LOCK" {
			return &DirError{Dir: dir, Kind: ErrNotEmpty, Detail: fmt.Sprintf("it holds %q", n)}
		}
	}
	return nil
}

// start opens Pebble. If that fails it gives back what prepare has taken.
func (s *Store) start(exists bool) error {
	s.cache = pebble.NewCache(s.opts.CacheSize)
	po := s.opts.pebble(s.guard, &s.present)
	po.Cache, po.Lock = s.cache, s.lock
	po.ErrorIfExists, po.ErrorIfNotExists = !exists, exists
	db, err := pebble.Open(s.opts.Dir, po)
	first := s.guard.err()
	if err == nil {
		s.db = db
		if first != nil {
			return errors.Join(first, s.Close())
		}
		return nil
	}
	s.cache.Unref()
	if first != nil {
		err = first
	}
	return errors.Join(s.fault(err), s.lock.Close())
}

// pebble are Pebble's options. present is the mark of what is written. Memory for caches comes on top.
func (o Options) pebble(g *guard, present *atomic.Uint64) *pebble.Options {
	po := &pebble.Options{
		FS:                          scratchFS{o.FS, g},
		Logger:                      g,
		EventListener:               g.listener(),
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		DisableWAL:                  true,
		MemTableSize:                uint64(o.MemtableSize),
		MemTableStopWritesThreshold: 1 << 24, // the owner waits: see guard
		L0StopWritesThreshold:       1 << 30,
		L0CompactionThreshold:       4,
		LBaseMaxBytes:               max(64<<20, int64(o.MemtableSize)),
		MaxOpenFiles:                o.MaxOpenFiles,
		CompactionConcurrencyRange:  func() (int, int) { return 1, o.Compactions },
		BlockPropertyCollectors:     []func() pebble.BlockPropertyCollector{collectMarks(present)},
	}
	// Pebble's default asks again for compactions ten times a second, from a goroutine
	// that a failed Open leaves behind. Flushes and compactions ask anyway.
	po.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	for i := range po.Levels {
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return po
}
