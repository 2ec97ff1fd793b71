// Package state measures statecow side by side with Go's builtin map, a B-tree with
// constant-time copies and a persistent hash trie: the suite "state" of the command
// line.
//
// # How it measures
//
// Each store lives in a process of its own, a copy of the running program that must
// call Child before anything else: so no garbage collector scans another's heap, and
// resident memory is one store's. The processes sit idle but for the one whose turn it
// is; package bench takes the turns in pairs. All stores get the same keys in the same
// order: a run has a seed, which the document has, and key number i is a fixed mix of i.
// Keys are drawn before the clock starts, a small block at a time, and what is read
// adds up to a sum that is compared with what it must be where that is known.
//
// Rates of what one thread does count the processor time of that thread, so that other
// programs on the machine disturb them less; latencies, collections and files count all
// time. Of latencies there are cases "processor-time", too, with the same runs but without
// the time in which the thread had no processor; and "no map" or "no snapshot" is what the
// same loop has without a store, which no store can be below.
//
// Processes of one size are started when a case first needs them and stopped when no
// case to come does, so that large sizes do not fill memory together.
//
// # Ownership and goroutines
//
// Run uses the caller's goroutine. A process that serves has one goroutine for its
// store, and one more while it writes a snapshot or puts a load beside the store.
package state
