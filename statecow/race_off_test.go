//go:build !race

package statecow

// RaceFactor divides the length of long tests.
const RaceFactor = 1
