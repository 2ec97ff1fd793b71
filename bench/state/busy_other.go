//go:build !linux

package state

import "github.com/overtake-stream/overtake/perf"

// newThreadClock returns a clock for the time that a thread spends: where that is not
// known, all time.
func newThreadClock() perf.Clock { return perf.NewClock() }
