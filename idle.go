package overtake

import "time"

// freeEvery is how often a worker gives idle network memory back: what has not been used for two
// or three times as long is gone then.
const freeEvery = 2 * time.Second

// freeIdle gives network memory that lies idle back to the system, until ended is closed.
func (w *worker) freeIdle(ended <-chan struct{}) {
	tick := time.NewTicker(w.plan.job.freeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			w.arena.FreeIdle()
		}
	}
}
