package nexmark

import (
	"time"

	"github.com/overtake-stream/overtake"
)

// memory is what was used most at a time, in bytes.
type memory struct{ resident, arena int64 }

// watched samples memory in a goroutine until it is stopped.
type watched struct {
	end  chan struct{}
	done chan memory
}

const (
	sampleEvery = 10 * time.Millisecond
	bufferBytes = 32 << 10 // the default of overtake.Network
)

// watch begins to sample the process and, if there is one, a job.
func watch(h *overtake.Handle) *watched {
	w := &watched{end: make(chan struct{}), done: make(chan memory)}
	go func() {
		var most memory
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			most.resident = max(most.resident, resident())
			if h != nil {
				most.arena = max(most.arena, int64(h.Buffers().InUse)*bufferBytes)
			}
			select {
			case <-tick.C:
			case <-w.end:
				w.done <- most
				return
			}
		}
	}()
	return w
}

// stop ends the sampling.
func (w *watched) stop() memory {
	close(w.end)
	return <-w.done
}
