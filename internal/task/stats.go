package task

import (
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// published is what the subtask lets others read. It writes it when it looks at the clock.
type published struct {
	records   atomic.Uint64
	watermark atomic.Int64
	process   *perf.Histogram // nil: nothing is measured
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
	Process   *perf.Histogram // busy time per batch, in nanoseconds; shared; nil: it is not measured
}

// Stats returns the account so far; any goroutine may ask.
func (t *Task) Stats() Stats {
	return Stats{
		Records: t.stats.records.Load(), Watermark: t.stats.watermark.Load(),
		Time: t.account.Read(t.clock.Now()), Process: t.stats.process,
	}
}

func (p *published) init() {
	p.watermark.Store(operators.NoWatermark)
	if perf.Enabled {
		p.process = new(perf.Histogram)
	}
}

// publish lets others see how far the subtask is. now is the time.
func (t *Task) publish(now time.Duration) {
	t.stats.records.Store(t.records)
	t.stats.watermark.Store(t.time.now)
	if perf.Enabled && t.cfg.Source != nil {
		t.processed(now)
		t.begins(now)
	}
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
		t.stats.process.Record(int64(t.account.BusyAt(now) - b.busy))
	}
}
