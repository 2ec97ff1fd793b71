package task

import (
	"sync/atomic"

	"github.com/overtake-stream/overtake/perf"
)

type counters struct {
	records atomic.Uint64
}

// Stats is a subtask's account so far.
type Stats struct {
	Records uint64     // read from the gate or the source
	Time    perf.Times // busy, idle and backpressured
}

// Stats returns the account so far; any goroutine may ask.
func (t *Task) Stats() Stats {
	return Stats{Records: t.stats.records.Load(), Time: t.account.Read(t.clock.Now())}
}
