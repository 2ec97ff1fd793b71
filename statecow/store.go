package statecow

import "io"

// Store is keyed state: what the state handles are built on. Map implements it
// in memory; other implementations may keep more than memory holds. One
// goroutine, the owner, calls its methods; snapshots are read by any.
//
// The hash of a key is passed by the caller, who has it from the record. It must
// be a function of the key, well mixed in all its bits, and the same in every
// process: it decides the key group.
type Store interface {
	// Get lends the value of a key until the next operation. It lends key.
	Get(hash uint32, key []byte) (value []byte, ok bool, err error)
	// Put stores a value. It lends key and value, which must not be views into
	// this store.
	Put(hash uint32, key, value []byte) error
	// Update finds a key once and stores what f makes of its value: f gets the old
	// value, lent and not to be changed, or nil and false. It returns the new
	// value, lent, or keep false to delete the key or leave it absent. f must not
	// use the store. It lends key.
	Update(hash uint32, key []byte, f func(old []byte, ok bool) (value []byte, keep bool)) error
	// Delete removes a key and reports whether it was there. It lends key.
	Delete(hash uint32, key []byte) (bool, error)
	// Len is the number of keys. A store on disk may estimate it.
	Len() int
	// Range lends every key of the groups and its value to f, in no particular
	// order, until f returns false. f must not change the store.
	Range(g Groups, f func(hash uint32, key, value []byte) bool) error

	// Snapshot freezes the present state. It takes constant time.
	Snapshot() (Snapshot, error)
	// Confirm says that the snapshot with this mark is durable: it is now the
	// oldest base of increments. Marks older than it are no longer bases.
	Confirm(Mark)
	// Abandon says that the snapshot with this mark will never be a base. It has no
	// effect on one that was confirmed.
	Abandon(Mark)
	// Restore applies one written snapshot, keeping the keys of the groups that
	// the store owns. A chain is restored by calls in its order, full one first.
	Restore(r io.Reader) error

	// SetExpiry sets who decides which entries have expired; nil ends it. See Expiry.
	SetExpiry(Expiry)
	// Maintain does up to n units of pending work (compaction, expiry, giving
	// memory back) and reports whether more is left. Operations that write do some
	// of it themselves; call it when idle.
	Maintain(n int) (more bool, err error)
	// Stats are the present figures.
	Stats() Stats
	// Close frees the memory. Snapshots must have been released before.
	Close() error
}

// Mark names the moment of a snapshot. Marks of one store grow; 0 is before
// everything.
type Mark uint64

// Snapshot is a frozen state. It may be read by several goroutines while the
// owner goes on writing.
type Snapshot interface {
	// Mark names the snapshot, for Confirm, Abandon and increments since it.
	Mark() Mark
	// Len is the number of keys.
	Len() int
	// Entries lends the entries that changed since a base to f, deletions
	// included, until f returns an error, which it returns. Since 0 it lends all
	// entries and no deletions. Entries of one key come in order of time.
	Entries(since Mark, f func(Entry) error) error
	// Write writes what Entries would lend, in the format of doc.go. With ErrBase, it has
	// written nothing.
	Write(w io.Writer, since Mark) (WriteStats, error)
	// Release gives up the snapshot. What only it held is freed by the owner's
	// next maintenance. Any goroutine may call it, once its readers are done;
	// again is harmless.
	Release()
}

// Entry is one entry of a snapshot. Key and value are lent until the callback
// returns and must not be changed.
type Entry struct {
	Hash    uint32
	Deleted bool
	Key     []byte
	Value   []byte
}

// WriteStats count what a snapshot wrote.
type WriteStats struct {
	Entries, Deletions int64
	Bytes              int64 // written
}

// Expiry decides which entries have expired.
type Expiry interface {
	// Deadline is when an entry expires, on the clock of its kind; NoDeadline if
	// never. It lends key and value.
	Deadline(key, value []byte) (clock ExpiryClock, at int64)
	// Now is the present time on a clock.
	Now(ExpiryClock) int64
}

// ExpiryClock is the time that a deadline refers to.
type ExpiryClock uint8

// The clocks of deadlines.
const (
	ProcessingTime ExpiryClock = iota
	EventTime
	expiryClocks
)

// NoDeadline is the deadline of an entry that never expires.
const NoDeadline = int64(1<<63 - 1)

// Stats are the figures of a store. Sizes are in bytes.
type Stats struct {
	Keys           int
	LiveBytes      int64 // of entries in the log that are live
	LogBytes       int64 // of segments in use, those held by snapshots only included
	HeldBytes      int64 // of LogBytes: only snapshots need them
	IndexBytes     int64
	MemoryBytes    int64 // all of it, what is kept for reuse included
	Snapshots      int   // open
	Compacted      int64 // bytes moved by compaction so far
	Expired        int64 // entries removed by expiry so far
	TombstoneBytes int64 // of deletions that increments still need
}
