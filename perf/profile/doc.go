// Package profile writes the Go runtime's profiles of a program to files: those of
// go tool pprof, and traces.
//
// It wraps github.com/pkg/profile, which ends the process when something is wrong,
// and on an interrupt: here whatever can go wrong is looked at first and returned as
// an error, and signals are left to the program. Nothing is printed.
package profile
