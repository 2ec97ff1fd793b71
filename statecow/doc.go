// Package statecow keeps keyed state in a copy-on-write log off the Go heap, whose
// snapshot is one boundary move.
//
// # The log
//
// Entries lie in segments of fixed size, appended in order; an index maps a key's
// hash to the address of its newest entry. A Snapshot freezes all that was
// appended so far: it notes the tail and takes constant time, whatever the number
// of keys. From then on an entry behind the frozen boundary never changes: an
// update copies it to the tail first. An entry above the boundary is updated in
// place. So
//
//   - a snapshot is read while the owner goes on writing: what it reads is
//     immutable, and reading it is reading segments in order;
//   - what changed since an earlier snapshot is what lies above that snapshot's
//     boundary; deletions leave tombstones as long as some base may need them.
//
// Which entries were superseded is kept beside each segment, in a bitmap of two
// bits an entry. Bitmaps have versions: the first change after a snapshot changes
// a copy. So a full snapshot holds every key exactly once, without a look at the
// live index.
//
// The index (see index) is one sorted array that grows and shrinks in place by a
// few entries with each operation; nothing stops for a rehash.
//
// Compaction (see cleaner) takes segments whose live share is small, moves what
// lives and frees them, a few entries with each append. It frees no segment
// that an open snapshot sees. Entries that every base of an increment has go to
// segments of their own, which increments skip. A segment in which nothing lives is freed
// at once; what lives in one where next to nothing has for some snapshots is written again,
// so that a chain of increments does not need what was written long ago (see
// snapshot.Oldest).
//
// # Ownership and goroutines
//
// A Map belongs to one goroutine, its owner; the package starts none. A Snapshot
// may be read by any goroutine, several at once, until it is released; Release may
// be called by any. All values that a Map returns are views into the log, valid
// until the owner's next operation on it. Nothing of the log or the index is
// scanned by the garbage collector.
//
// # Memory
//
// Options.Budget bounds it. An operation that would exceed it first compacts what
// can be compacted, then fails with a *BudgetError and leaves the map as it was.
// Three segments are kept for deletions and compaction, so a full map can be
// emptied. Memory of emptied segments goes back to the system, but for a few kept
// for the next ones: an eighth of those in use, for fresh memory is slow.
//
// # Layers
//
// Map holds byte strings and implements Store, which other stores implement too
// (package statetest tests them all). TypedMap and Table hold values without
// pointers, which are changed in place. States are named states of an operator in
// one store, with namespaces and time to live: ValueState, ListState, MapState,
// ReducingState and AggregatingState. Timers is a queue of timers in a Map.
//
// # Speed
//
// A random operation on a large map is two cache misses, one in the index and one
// in the log, and a processor hides them only as far as it can run ahead. So the
// usual path is short and has no branch that is hard to predict (see index.probe).
// Prefetch goes further for a caller who knows the next keys.
//
// # Format of a written snapshot
//
// All numbers are little-endian; checksums are CRC32C.
//
//	header, 64 bytes
//	  0 "OTSTATE\0"   8 version u16 = 1   10 flags u16 (1: fixed layout)
//	  12 key size u32   16 value size u32   20 value offset u32   24 stride u32
//	  28 since u64      36 mark u64         44 keys of all state u64 (about)
//	  52 zero           60 checksum of bytes 0 to 59 u32
//	block, as often as needed
//	  0 kind u8 ('P' entries, 'D' deletions, 'E' end), 3 bytes zero
//	  4 number u32, from 0   8 records u32   12 length of the payload u32
//	  16 checksum of the payload u32         20 checksum of bytes 0 to 19 u32
//	  24 payload
//
// The payload of 'P' is entries as they lie in the log (see layout), that of 'D'
// entries of the variable layout without values, that of the one 'E', which is
// last, entries u64, deletions u64 and payload bytes u64 before it. Later blocks
// win over earlier ones, later snapshots of a chain over earlier ones. Typed
// values are in the byte order of the machine, which has to be little-endian.
package statecow
