//go:build noperf

package perf

// Enabled is false in builds with the tag "noperf": see the other file.
const Enabled = false
