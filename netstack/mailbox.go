package netstack

import (
	"sync"
	"sync/atomic"
)

// work is something to be done where the protocol runs. At most one post of the
// same work is pending at a time, so a mailbox is at most a few times as long as
// there are channels.
type work interface{ work() }

// mailbox carries work from subtasks to the driver.
type mailbox struct {
	running []work      // driver: the last batch, kept for its memory
	waiting atomic.Bool // posted is not empty
	mu      struct {
		sync.Mutex
		posted []work
	}
}

// post adds work. The driver must be woken afterwards if it sleeps.
func (m *mailbox) post(w work) {
	m.mu.Lock()
	m.mu.posted = append(m.mu.posted, w)
	m.waiting.Store(true)
	m.mu.Unlock()
}

func (m *mailbox) empty() bool { return !m.waiting.Load() }

// run does what was posted so far and reports whether there was anything.
func (m *mailbox) run() bool {
	if m.empty() {
		return false
	}
	m.mu.Lock()
	m.waiting.Store(false)
	batch := m.mu.posted
	m.mu.posted = m.running[:0]
	m.mu.Unlock()
	for i, w := range batch {
		batch[i] = nil
		w.work()
	}
	m.running = batch
	return len(batch) > 0
}
