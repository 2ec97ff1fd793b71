package unaligned

import (
	"sync"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// Memory is what the captures of a subtask copy to. It is kept from one to the next, as to
// get it each time would mean page faults and garbage. Any goroutine may use it; the zero
// value is ready.
type Memory struct {
	mu   sync.Mutex
	free [][]byte // all of them empty
	last int      // chunks that the last capture gave back
}

// chunkSize is room for two buffers of the usual size. Few captures copy much more than that,
// and every subtask that copies anything keeps one.
const chunkSize = 64 << 10

// take returns an empty chunk.
func (m *Memory) take() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.free)
	if n == 0 {
		return make([]byte, 0, chunkSize)
	}
	chunk := m.free[n-1]
	m.free[n-1] = nil
	m.free = m.free[:n-1]
	return chunk
}

// give takes the chunks of a capture back. As many stay as this one had, or the one before it.
func (m *Memory) give(chunks [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, chunk := range chunks {
		if invariant.Enabled {
			invariant.Poison(chunk)
		}
		m.free = append(m.free, chunk[:0])
	}
	if keep := max(len(chunks), m.last); len(m.free) > keep {
		clear(m.free[keep:])
		m.free = m.free[:keep]
	}
	m.last = len(chunks)
}
