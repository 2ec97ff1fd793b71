package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// turn is the clock of what a driver does between two system calls: it looks at the time once,
// when it is first asked. It belongs to the protocol.
type turn struct {
	clock perf.Clock // constant
	now   time.Duration
	known bool
}

var _ perf.Clock = (*turn)(nil)

// Now implements perf.Clock. It is 0 where no account is kept.
func (t *turn) Now() time.Duration {
	if perf.Enabled && !t.known {
		t.now, t.known = t.clock.Now(), true
	}
	return t.now
}

// over ends the turn.
func (t *turn) over() { t.known = false }
