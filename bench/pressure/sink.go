package pressure

import (
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
)

// Before puts the pressure of a slow or stalled sink into a stream: what follows gets its
// records that late. Without such pressure it returns the stream itself.
func Before[T any](c Config, s overtake.Stream[T], opts ...overtake.OpOption) overtake.Stream[T] {
	if c.SlowSink <= 0 && c.Stall <= 0 {
		return s
	}
	d := &delay{Config: c, start: time.Now()}
	return overtake.TryMap(s, func(ctx *overtake.Context, v T) (T, error) {
		d.record(ctx.Subtask, ctx.Parallelism, ctx.Cancel.Done())
		return v, nil
	}, append([]overtake.OpOption{overtake.WithName("pressure"), overtake.WithUID("pressure")}, opts...)...)
}

// delay is what the subtasks of an operator have to wait.
type delay struct {
	Config
	start time.Time
	slots [64]slot // by subtask; several share one beyond that
}

// slot is a subtask's; it is the only writer.
type slot struct {
	owed  atomic.Int64 // nanoseconds
	stall atomic.Int64 // when the next one begins, nanoseconds after start
	_     [48]byte     // so that subtasks do not share a cache line
}

// shortest is the time that is slept at least: a sleep is seldom shorter. Less is
// gathered from several records.
const shortest = time.Millisecond

// record waits, but no longer than the job runs.
func (d *delay) record(subtask, parallelism int, cancelled <-chan struct{}) {
	s := &d.slots[subtask%len(d.slots)]
	if d.Stall > 0 && uint64(subtask) == d.Seed%uint64(parallelism) {
		if now := time.Since(d.start); now >= time.Duration(s.stall.Load()) {
			pause(d.Stall, cancelled)
			s.stall.Store(int64(time.Since(d.start) + 9*d.Stall))
		}
	}
	switch {
	case d.SlowSink <= 0:
	case d.Spin:
		for end := time.Now().Add(d.SlowSink); time.Now().Before(end); {
		}
	case s.owed.Add(int64(d.SlowSink)) >= int64(shortest):
		pause(time.Duration(s.owed.Swap(0)), cancelled)
	}
}

// long is from when on a job that is cancelled does not wait for the end of a sleep.
const long = 50 * time.Millisecond

// pause sleeps.
func pause(d time.Duration, cancelled <-chan struct{}) {
	if d < long {
		time.Sleep(d) // a timer and a select would wake up later
		return
	}
	select {
	case <-time.After(d):
	case <-cancelled:
	}
}
