// Package bench measures Overtake side by side with baselines: a library with a
// Config and a Run; the command line only binds flags to it.
//
// Every figure that matters is a ratio. A case runs its own side and each baseline in
// turn, pair by pair (A B A B …), after one warm-up of each that does not count, and
// the ratio is taken within a pair: so what the machine does at the same time hits
// both. The document has all runs, not only medians, and Compare judges two documents
// by a test on the runs. Latency cases have the percentiles of all runs together; a
// load at a fixed rate counts from when a message was due (OpenLoop).
//
// Cases that need a second process start a copy of the running program, which must
// call Child before anything else.
package bench
