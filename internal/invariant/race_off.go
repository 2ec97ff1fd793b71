//go:build !race

package invariant

// Race is true in builds with the race detector.
const Race = false
