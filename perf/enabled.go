//go:build !noperf

package perf

// Enabled is false in builds with the tag "noperf", which measure nothing: the account
// of the data plane is compiled out, so that a benchmark can tell what it costs. Time
// accounts do nothing then; histograms, counters and clocks work as ever, for those who
// measure on their own. Guard with Enabled what exists for the account alone.
const Enabled = true
