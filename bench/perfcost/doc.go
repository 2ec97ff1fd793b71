// Package perfcost measures what the always-on account of times (package perf, and what
// the data plane does for it) costs a job: jobs with it against the same jobs in a program
// that it was compiled out of, with the build tag noperf.
//
// It also measures what a profiler costs while it is attached, with one that the caller
// brings, and what the places cost at which it looks while there is none.
//
// Both sides are built from the module's source by the go command and run as processes
// of their own, in turn. Where that cannot be, ours is measured in this process, and the
// baseline is skipped and says why.
package perfcost
