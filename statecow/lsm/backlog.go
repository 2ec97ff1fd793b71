package lsm

import "github.com/overtake-stream/overtake/statecow"

const (
	maxMemtables = 4  // full ones in memory, before writes wait for flushes
	maxSublevels = 20 // of level 0, before writes wait for compactions
	looks        = 8  // at the backlog, for each memtable written
)

// wrote is called after every write, with its size.
func (s *Store) wrote(n int) error {
	if s.unchecked += n + 32; s.unchecked < s.opts.MemtableSize/looks {
		return s.expiry.afterWrite(s)
	}
	s.unchecked = 0
	return s.catchUp()
}

// catchUp waits until flushes and compactions are not far behind.
func (s *Store) catchUp() error {
	for {
		if err := s.guard.err(); err != nil {
			return err
		}
		m := s.db.Metrics()
		if m.MemTable.Size <= maxMemtables*uint64(s.opts.MemtableSize) && m.Levels[0].Sublevels <= maxSublevels {
			return nil
		}
		if err := s.guard.wait(); err != nil {
			return err
		}
	}
}

// flush begins to move what is in memory into tables. The channel is closed when
// that is done, but not if it fails: use guard.await.
func (s *Store) flush() (<-chan struct{}, error) {
	done, err := s.db.AsyncFlush()
	return done, s.fault(err)
}

// Prepare begins to flush what is in memory, in the background, so that a
// Checkpoint shortly afterwards has little left to do.
func (s *Store) Prepare() error {
	if err := s.usable(); err != nil {
		return err
	}
	_, err := s.flush()
	return err
}

// Stats implements statecow.Store. LogBytes is the space of the tables, HeldBytes
// that of tables that only snapshots or pending deletions keep, IndexBytes the
// memory of open tables, and MemoryBytes that of memtables and caches.
func (s *Store) Stats() (t statecow.Stats) {
	t.Keys = s.keys.n
	t.Snapshots = int(s.open.Load())
	t.Expired = s.expiry.expired
	t.TombstoneBytes = s.tombs
	if s.closed {
		return t
	}
	m := s.db.Metrics()
	var live int64
	for _, l := range m.Levels {
		live += l.TablesSize
		t.Compacted += int64(l.TableBytesCompacted)
	}
	t.LiveBytes = live
	t.LogBytes = int64(m.DiskSpaceUsage())
	t.HeldBytes = int64(m.Table.ZombieSize)
	t.IndexBytes = m.FileCache.Size
	t.MemoryBytes = m.BlockCache.Size + int64(m.MemTable.Size+m.MemTable.ZombieSize) + m.FileCache.Size
	return t
}
