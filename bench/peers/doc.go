// Package peers measures Overtake side by side with other systems, each in its own
// language: a library with a Config and a Run; the command line only binds flags to it.
//
// A peer is a program whose sources are embedded here. It is built once, in the user's
// cache folder, under the hash of its sources and of the tools that build it. A peer
// whose tools are missing, or which does not build, is skipped and the result says why.
//
// # Programs
//
// A measurement is one process. A peer's program is started with the arguments
//
//	--case NAME KEY=VALUE ...
//
// and our side is a copy of the running program (see Child) that gets the same case and
// the same keys and values. Either one warms up, measures, checks what it did, and prints
// its figures as JSON, one Line to a line, on standard output:
//
//	{"case":"keyby/10","metric":"throughput","unit":"records/s","value":1.5e7,"records":20000000,"check":"9f3c","settings":{"heap":"2g"}}
//
// Units are base units: records/s, s, B, s/record. "check" is a hash of the output that
// does not depend on the order (say, the sum of a hash of each record); where a figure
// asks for it, both sides must print the same. "records" is how many records the value
// is of. "settings" says how the system was set up, once at least. "percentiles", for
// latencies, has seconds under "p50", "p90", "p99", "p99.9" and "max". Whatever else a
// program has to say goes to standard error, whose last lines are shown if it fails: if
// it exits with another code than 0, prints a line with "error", or prints no line for a
// figure that the case has. It runs in an empty folder of its own, where it may write.
//
// Two metrics are special. "rss", in bytes, is the most memory that the process has had;
// where the program does not say, the kernel's figure for the process is taken. "cpu",
// in s/record, is processor time over the measured part alone, without warm-up.
//
// # Adding a peer
//
// Write the program below a folder of its own, embed it, and return a Peer from a
// function that All calls. A case of the Peer has the peer's half as parameters and our
// half as a Go function; Figures says which metrics become rows of the result.
//
// # Invariants
//
// Runs are interleaved: ours, theirs, ours, theirs …, and a ratio is taken within a pair.
// Both sides have the same parallelism, the same work and the same machine. Nothing is
// left running: programs end before Run returns, or are killed when its context ends.
package peers
