package pressure

import (
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
)

// Before puts the pressure of a slow or stalled sink into a stream: what follows gets its
// records that late. Without such pressure it returns the stream itself.
func Before[T any](c Config, s overtake.Stream[T], opts ...overtake.OpOption) overtake.Stream[T] {
	return BeforeOnce(c, nil, s, opts...)
}

// BeforeOnce is Before with pressure that begins once on is true; nil is from the start. It
// shares on.
func BeforeOnce[T any](c Config, on *atomic.Bool, s overtake.Stream[T], opts ...overtake.OpOption) overtake.Stream[T] {
	d := c.Delays()
	if d == nil {
		return s
	}
	return overtake.TryMap(s, func(ctx *overtake.Context, v T) (T, error) {
		if on == nil || on.Load() {
			d.Wait(1, ctx.Subtask, ctx.Parallelism, ctx.Cancel.Done())
		}
		return v, nil
	}, append([]overtake.OpOption{overtake.WithName("pressure"), overtake.WithUID("pressure")}, opts...)...)
}

// Delays is what those who read records have to wait, as a slow or stalled sink does.
// Several goroutines may use it, each as another reader. A nil *Delays is none.
type Delays struct {
	Config
	start  time.Time
	slots  [64]slot // by reader; several share one beyond that
	stalls atomic.Int64
}

// slot is a reader's; it is the only writer.
type slot struct {
	owed  atomic.Int64 // nanoseconds
	stall atomic.Int64 // when the next one begins, nanoseconds after start
	_     [48]byte     // so that readers do not share a cache line
}

// Delays returns those of a slow or stalled sink, nil if there is to be none.
func (c Config) Delays() *Delays {
	if c.SlowSink <= 0 && c.Stall <= 0 {
		return nil
	}
	return &Delays{Config: c, start: time.Now()}
}

// Stalls is how often somebody has stood still so far.
func (d *Delays) Stalls() int64 {
	if d == nil {
		return 0
	}
	return d.stalls.Load()
}

// shortest is the time that is slept at least: a sleep is seldom shorter. Less is
// gathered from several records.
const shortest = time.Millisecond

// Wait waits for count records of one of so many readers, numbered from 0, but no longer than
// until cancelled is closed. A nil channel never is.
func (d *Delays) Wait(count, reader, readers int, cancelled <-chan struct{}) {
	if d == nil {
		return
	}
	s := &d.slots[reader%len(d.slots)]
	if d.Stall > 0 && uint64(reader) == d.Seed%uint64(readers) {
		if now := time.Since(d.start); now >= time.Duration(s.stall.Load()) {
			d.stalls.Add(1)
			pause(d.Stall, cancelled)
			s.stall.Store(int64(time.Since(d.start) + 9*d.Stall))
		}
	}
	takes := time.Duration(count) * d.SlowSink
	switch {
	case d.SlowSink <= 0:
	case d.Spin:
		for end := time.Now().Add(takes); time.Now().Before(end); {
		}
	case s.owed.Add(int64(takes)) >= int64(shortest):
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
