// Package generate has a source that computes its records: for load, for tests and
// for benchmarks.
//
// Record number n is a function of n alone, so that any number of subtasks, or a job
// that goes on from a checkpoint, produce the same records. With a rate, record n has
// its moment too, whether or not the job keeps up (an open loop): the moment is the
// record's event time, so that latency can be counted from when a record was due.
//
// There are no goroutines. A reader that waits has a timer, which its Close stops.
package generate
