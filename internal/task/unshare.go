package task

import (
	"math"
	"time"
)

// shareFor is how long a round holds on to the buffers that it shares with the
// exchange while barriers are still to come. It must not be for ever: a sender that
// needs a buffer in the middle of a record serves no barriers, so the round would wait
// for the sender and the sender for the round. Once its barriers are in, a round waits
// for nothing but its writer.
const shareFor = 5 * time.Millisecond

const never = time.Duration(math.MaxInt64)

// unshare lets rounds go on with copies that have shared buffers for long at now.
func (t *Task) unshare(now time.Duration) {
	if t.checkpoints == nil {
		return
	}
	for _, r := range t.checkpoints.rounds {
		if !r.copies && now-r.began >= shareFor {
			r.copies = true
			r.capture.Unshare()
		}
	}
}

// unshareDue is when unshare has something to do.
func (t *Task) unshareDue() (at time.Duration, ok bool) {
	if t.checkpoints == nil {
		return 0, false
	}
	for _, r := range t.checkpoints.rounds {
		if due := r.began + shareFor; !r.copies && (!ok || due < at) {
			at, ok = due, true
		}
	}
	return at, ok
}
