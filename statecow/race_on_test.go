//go:build race

package statecow

// RaceFactor divides the length of long tests: with the race detector, an operation takes
// ten times as long.
const RaceFactor = 10
