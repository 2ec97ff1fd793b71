package statecow

import "github.com/overtake-stream/overtake/internal/invariant"

// RaceFactor divides the length of long tests: with the race detector, an operation takes
// ten times as long.
func RaceFactor() int {
	if invariant.Race {
		return 10
	}
	return 1
}
