package bench

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// OpenLoop times a load that does not wait for answers: message n is due n/rate
// after the start, whether or not earlier ones have been sent or answered. Latency
// counts from there, so that a system that stalls is charged with every message that
// it held up, not only with the one it was working on (what G. Tene named
// coordinated omission).
//
// One goroutine calls Next, any may call Arrived.
type OpenLoop struct {
	clock perf.Clock
	sleep func(time.Duration)
	gap   float64 // nanoseconds between messages
	next  int64
}

// NewOpenLoop begins a load of so many messages a second, now. It waits with sleep,
// such as PreciseSleep: whatever that oversleeps counts as latency.
func NewOpenLoop(rate float64, sleep func(time.Duration)) *OpenLoop {
	return &OpenLoop{clock: perf.NewClock(), sleep: sleep, gap: 1e9 / rate}
}

// Next waits until the next message is due and returns its number, from 0. It returns
// at once while the caller is behind.
func (o *OpenLoop) Next() int64 {
	n := o.next
	o.next++
	for wait := o.due(n) - o.clock.Now(); wait > 0; wait = o.due(n) - o.clock.Now() {
		o.sleep(wait)
	}
	return n
}

// Arrived records how long ago message n was due.
func (o *OpenLoop) Arrived(n int64, into *perf.Histogram) {
	into.Record(int64(o.clock.Now() - o.due(n)))
}

func (o *OpenLoop) due(n int64) time.Duration { return time.Duration(float64(n) * o.gap) }
