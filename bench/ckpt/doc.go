// Package ckpt measures checkpoints of whole jobs: the suites "checkpoint",
// "checkpoint-backpressure" and "recovery" of the command line.
//
// # How it measures
//
// Suite checkpoint runs one job for each mode and interleaves slices with and without
// checkpoints in that same run, so that memory layout and load are the same on both
// sides. Keys change in a window that moves by its own width every interval: so each
// interval changes about the same part of the state, whatever the speed. Figures of the
// checkpoints are those that the slices of the first case left; cases that look at them
// take no measurement of their own.
//
// Suite checkpoint-backpressure starts a job for every measurement, waits until the
// source is held up, and then takes one checkpoint after the other, each of which is a
// latency. A checkpoint that takes longer than Config.Patience is counted as that long,
// and ends the measurement.
//
// Suite recovery fills a state, takes a checkpoint, and measures from the kill to the
// first new record of the restarted job.
//
// # Ownership and goroutines
//
// Run uses the caller's goroutine. A slice has one more, which moves the window. Copies
// of the running program, which must call Child before anything else, end with it.
package ckpt
