package state

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
	"golang.org/x/sys/unix"
)

// threadClock tells the processor time of the calling thread, which a goroutine that
// reads it twice has to be locked to. Time in which other programs had the processor is
// not in it; waiting for memory is.
type threadClock struct{}

func newThreadClock() perf.Clock { return threadClock{} }

// Now implements perf.Clock.
func (threadClock) Now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // cannot fail for this clock
	return time.Duration(t.Nano())
}
