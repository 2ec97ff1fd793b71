// Package record lays out records inside buffers. All numbers are little-endian.
//
//	 0        4        8                16
//	+--------+--------+- - - - - - - - -+-----------------+- - - -+
//	| word   | hash   | timestamp (i64) | payload         | zeros |
//	+--------+--------+- - - - - - - - -+-----------------+- - - -+
//	                   only if flagged                     to a multiple of 8
//
// word: bits 0-27 the payload's length in bytes, bit 28 "has a timestamp", bits
// 29-31 the Kind. hash is the hash of the record's key on keyed edges, 0 elsewhere:
// it chose the channel, serves the state lookup at the receiver, and is all that
// is needed to send in-flight data elsewhere when the parallelism changes.
// timestamp is event time in milliseconds since the Unix epoch.
//
// Every record starts at a multiple of 8 bytes, so that fixed-size payloads can be
// read in place. A record larger than a buffer is cut into consecutive buffers by
// the exchange and put together again by an Assembler.
//
// The package is pure: no I/O, no goroutines, no allocation except for an
// Assembler's scratch. Decoders check every length before they touch memory.
package record
