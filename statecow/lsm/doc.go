// Package lsm keeps keyed state that is larger than memory: a statecow.Store on
// Pebble, a log-structured merge tree of sorted tables in a local directory.
//
// # The directory is scratch
//
// There is no write-ahead log. What makes state durable is a snapshot or a
// checkpoint that was taken elsewhere; after a crash the directory is deleted and
// state comes from there. So New and Open want a directory without a store in it:
// what a crashed process left is older than the last record and must not be taken
// for state.
//
// # Keys
//
// One keyspace, two kinds of keys, told apart by their first byte:
//
//	'd' hash u32, key             -> mark uvarint, value
//	't' mark u64, hash u32, key   -> nothing: key was deleted in this mark
//
// Numbers are big-endian. A key group is a range of hashes (see statecow.Groups),
// so the keys of consecutive groups lie together whatever the number of groups is:
// reading, splitting and dropping groups is reading, splitting and dropping a range
// of keys, and a checkpoint may be opened with another number of groups.
//
// # Snapshots and increments
//
// A snapshot is a Pebble snapshot, a sequence number: taking it copies nothing.
// Marks are counted: everything written between two snapshots carries the mark of
// the second. So an increment since a mark is the entries that carry a greater one.
// It does not read all others: every table has, as a property, the mark that was
// present when it was begun, which is no lower than those of its entries, and
// reading skips tables begun before the base. What is read is thus what has been
// written by flushes and compactions since. A skipped table may hold a newer version
// of a key, or its deletion, than one that is read; but then both are older than the
// base, and the marks of the entries themselves decide.
//
// Deletions are deletions, with a record beside them as long as there is a base of
// increments. The records are ordered by mark: an increment reads a range of them,
// and when a base is confirmed one range deletion drops all that nobody needs. In
// an increment, deletions come first and win over nothing that follows.
//
// An open snapshot keeps versions that were overwritten: release it early.
//
// # Checkpoints
//
// The store itself syncs no file. Beside the stream of Snapshot.Write, which any store can read, Checkpoint makes
// a directory of hard links to the tables as they are, in the time that flushing
// the memtable takes (Prepare shortens it). Tables never change, so an uploader
// sends only those that it has not sent before: each File names its content by size
// and 128-bit hash, and References counts who needs it. Open begins a store with a
// checkpoint, Import adds the groups of another.
//
// # Len
//
// Put does not read. So the number of keys is exact as long as the store is small
// (exactKeys) and an estimate from there on: one Put of sampleEvery, chosen at
// random, looks whether its key is new and counts for all.
//
// # Failures
//
// A flush or compaction that fails is not tried again: the store refuses all
// further work with a *DiskError or *TableError, its background work stands still,
// and Close ends it. State comes back from the last checkpoint.
//
// # Ownership and goroutines
//
// A Store belongs to one goroutine, its owner; values that it lends are valid until
// the owner's next operation. Snapshots and a PendingCheckpoint may be used by
// others. The package starts no goroutine; Pebble starts some for flushes,
// compactions and deletions of files, which Close joins. Writes wait when flushes or
// compactions fall behind (see guard).
package lsm
