// Package pressure puts jobs under pressure on purpose: a slow or stalled sink, keys that
// are not even, channels without credit, a slow disk. It is an input of benchmarks and
// of the command line; everything random in it has a seed.
//
// # Ownership and goroutines
//
// There are no goroutines. Delays take the time of the goroutine that has the record or
// writes the blob: so a job under pressure behaves as one with a slow sink or disk does. A
// Config is a value; what its methods return may be used by all subtasks.
package pressure
