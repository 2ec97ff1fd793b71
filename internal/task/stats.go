package task

import (
	"sync"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// published is what the subtask lets others read. It writes it when it looks at the clock.
type published struct {
	process *perf.Histogram // nil: nothing is measured; constant
	own     perf.Batch      // of process: what is not published; the subtask's

	mu struct {
		sync.Mutex
		records   uint64
		watermark int64
		process   perf.Batch
	}
}

// batch measures the busy time for what is read at once: a buffer of the gate, or what a
// source has read between two looks at the clock.
type batch struct {
	open    bool
	busy    time.Duration // of the account, when it began
	records uint64        // read by then
}

// Stats is a subtask's account so far.
type Stats struct {
	Records   uint64          // read from the gate or the source
	Time      perf.Times      // busy, idle and backpressured
	Watermark int64           // Unix milliseconds; operators.NoWatermark, operators.LastWatermark
	Process   *perf.Histogram // busy time per batch, in nanoseconds; shared, the latest values are added a few at a time; nil: it is not measured
}

// Stats returns the account so far; any goroutine may ask.
func (t *Task) Stats() Stats {
	p := &t.stats
	p.mu.Lock()
	if p.process != nil {
		p.mu.process.Flush(p.process)
	}
	st := Stats{Records: p.mu.records, Watermark: p.mu.watermark, Process: p.process}
	p.mu.Unlock()
	st.Time = t.account.Read(t.clock.Now())
	return st
}

func (p *published) init() {
	p.mu.watermark = operators.NoWatermark
	if perf.Enabled {
		p.process = new(perf.Histogram)
	}
}

// publish lets others see how far the subtask is. now is the time.
func (t *Task) publish(now time.Duration) {
	if perf.Enabled && t.cfg.Source != nil {
		t.begins(now)
	}
	p := &t.stats
	p.mu.Lock()
	p.mu.records, p.mu.watermark = t.records, t.time.now
	if p.process != nil {
		p.own.Move(&p.mu.process, p.process)
	}
	p.mu.Unlock()
}

// begins says that a batch begins now; if there was one before, it has ended.
func (t *Task) begins(now time.Duration) {
	t.processed(now)
	t.batch = batch{open: true, busy: t.account.BusyAt(now), records: t.records}
}

// processed says that the batch has ended, if there is one.
func (t *Task) processed(now time.Duration) {
	b := &t.batch
	if !b.open {
		return
	}
	b.open = false
	if t.cfg.Source == nil || t.records > b.records {
		t.stats.own.Record(t.stats.process, int64(t.account.BusyAt(now)-b.busy))
	}
}
