package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
)

// item is what queues hold: a data buffer, or an event when event is set.
type item struct {
	buf   bufferpool.Buffer
	event *Event
	part  bool // the buffer ends inside a record that continues in the next one
	trace bool // a profiler looks at the buffer: see trace.go

	// at is when it was queued where it is, on the clock of the account; 0 without one.
	at time.Duration
}

func (it item) isData() bool { return it.event == nil }

func (it item) isPriority() bool { return it.event != nil && it.event.Priority }

// isOrderedUser reports whether it is an ordered event that users of the package sent.
func (it item) isOrderedUser() bool {
	return it.event != nil && !it.event.Priority && it.event.Kind >= FirstUserEvent
}

// release gives the buffer back, if there is one.
func (it item) release() {
	if it.isData() {
		it.buf.Release()
	}
}
