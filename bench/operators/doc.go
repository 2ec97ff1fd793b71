// Package operators measures whole jobs of single operators: the suite "operators" of
// the command line.
//
// # How it measures
//
// A flow is a small job from a generating source to a sink that adds up: a chain of
// maps, a filter and a flat map, a running total by key, and so on. Beside it stands
// what a careful programmer writes by hand for the same work: goroutines, and channels
// of batches of 1,024 records that are used again. Both sides have the same parallelism, the
// same record of 32 bytes and the same functions, and every run is checked against a
// plain loop over the same records.
//
// One run gives three figures: source records per second, source records per second of
// processor time, and heap allocations per source record. The cases of the last two look at
// the runs that the first one took, and measure only if it was filtered out. Starting and
// ending a job is part of its time; allocations are less those of a job of one
// record.
//
// Under pressure (Config.Pressure) the baseline is the same job without it.
//
// # Ownership and goroutines
//
// Run uses the caller's goroutine. A run has the goroutines of its job, or of the work by
// hand, which end with it.
package operators
