// Package operators holds what a subtask runs: sources, sinks, codecs, and the
// transforms between them.
//
// # Chains
//
// Operators joined by forward edges of equal parallelism are fused into a chain
// and call each other directly with typed values: no encoding, no boxing, no
// channel. A hop is one call (Collector.Collect) and the call of the user's function;
// records of one size go in runs, where the first call is one for a run (Runner). At the end of a chain an edge writer encodes the value into
// the open buffer of a subpartition; at the start of the next chain a decoder
// reads it there, often in place.
//
// # Ownership
//
// All code here is single-owner: the subtask's goroutine is the only one that
// calls it, so nothing in this package starts a goroutine, uses a channel or
// takes a lock. A value decoded from a buffer may be a view into it (strings and
// byte slices): it is valid until the callback that received it returns. Keep it
// with Clone.
//
// # Errors
//
// The first error of a chain is kept in its Context and ends the subtask after
// the current record. A panic in user code becomes an *Error too; it is recovered
// once a call of the chain, not once a record, and names the operator that ran.
package operators
