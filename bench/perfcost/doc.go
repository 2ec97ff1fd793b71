// Package perfcost measures what the always-on account of times (package perf, and what
// the data plane does for it) costs a job: jobs with it against the same jobs in a program
// that it was compiled out of, with the build tag noperf.
//
// Both sides are built from the module's source by the go command and run as processes
// of their own, in turn. Where that cannot be, ours is measured in this process, and the
// baseline is skipped and says why.
package perfcost
