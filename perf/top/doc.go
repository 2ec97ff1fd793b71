// Package top is the terminal view of a running job: what each operator and edge does at
// the moment, and which operator holds the job up.
//
// A Client reads the snapshots of all workers from their endpoints (package serve). Two
// readings make a Figures: rates and shares over the time in between. A Model shows them,
// one a second; it is a state machine of package tea, with no clock and no I/O of its
// own: what it reads and when is in commands that it is given. Frame draws Figures without
// a terminal.
//
// The package starts no goroutine: tea runs commands on its own, and joins them.
package top
