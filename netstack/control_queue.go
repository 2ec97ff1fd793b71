package netstack

import (
	"fmt"
	"sync"
)

const (
	maxControlQueued = 1024    // messages
	maxControlBytes  = 1 << 20 // and bytes
)

// controlQueue holds control messages for one peer. Any goroutine may push.
type controlQueue struct {
	mu struct {
		sync.Mutex
		queue ring[[]byte]
		bytes int
	}
}

// push queues a message and reports whether it is alone. It shares the payload.
func (q *controlQueue) push(payload []byte) (first bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := q.mu.queue.len(); n >= maxControlQueued || q.mu.bytes+len(payload) > maxControlBytes {
		return false, fmt.Errorf("%w: %d messages, %d bytes", ErrControlFull, n, q.mu.bytes)
	}
	q.mu.queue.push(payload)
	q.mu.bytes += len(payload)
	return q.mu.queue.len() == 1, nil
}

func (q *controlQueue) pop() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.queue.len() == 0 {
		return nil, false
	}
	payload := q.mu.queue.pop()
	q.mu.bytes -= len(payload)
	return payload, true
}

func (q *controlQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.queue.len() == 0
}
