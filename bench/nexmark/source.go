package nexmark

import (
	"sync"
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// Pace is an open loop: event number n is due n/Rate seconds after the first subtask of the
// source has begun, whether or not the job keeps up.
type Pace struct {
	Rate float64 // events per second; 0: as fast as the job takes them
}

// due is how long after the start an event is due.
func (p Pace) due(n uint64) time.Duration {
	return time.Duration(float64(n) / p.Rate * 1e9)
}

// Source is the source of all events, each with its event time. The events are lent, and
// overwritten by the next. It serves one run of a job.
func (g *Generator) Source(pace Pace) operators.Source[*Event] {
	return source{g, pace, &start{}}
}

// start is when a source has begun.
type start struct {
	once  sync.Once
	at    time.Time
	began func() // may be nil
}

// time is the moment of the first call of all.
func (s *start) time() time.Time {
	s.once.Do(func() {
		if s.at = time.Now(); s.began != nil {
			s.began()
		}
	})
	return s.at
}

type source struct {
	*Generator
	pace  Pace
	start *start
}

// Open implements operators.Source.
func (s source) Open(ctx operators.SourceContext) (operators.Reader[*Event], error) {
	r := &reader{source: s}
	s.start.time()
	if s.pace.Rate > 0 {
		r.timer = time.AfterFunc(time.Hour, ctx.Wake)
		r.timer.Stop()
	}
	if !ctx.Restored {
		r.shares = []share{newShare(ctx.Subtask, ctx.Parallelism)}
		return r, nil
	}
	for _, b := range ctx.Splits {
		sh, err := decodeShare(b)
		if err != nil {
			return nil, err
		}
		r.shares = append(r.shares, sh)
	}
	return r, nil
}

// reader reads one share or, after a restore, several: the block that comes first, first.
type reader struct {
	source
	shares []share
	event  Event

	timer   *time.Timer   // with a pace
	elapsed time.Duration // since the start, when last looked at
}

// Read implements operators.Reader.
func (r *reader) Read(out *operators.Output[*Event]) (operators.Status, error) {
	for {
		s := r.first()
		if s == nil {
			return operators.Ended, nil
		}
		for end := min(s.next-s.next%block+block, r.opts.Events); s.next < end; {
			if !out.Ready() {
				return operators.More, nil
			}
			if r.timer != nil && r.wait(s.next) {
				return operators.Idle, nil
			}
			r.Event(s.next, &r.event)
			out.CollectAt(&r.event, r.event.Time())
			s.advance()
		}
	}
}

// wait reports whether an event is not due yet, and if so, sets the timer.
func (r *reader) wait(n uint64) bool {
	due := r.pace.due(n)
	if r.elapsed < due {
		r.elapsed = time.Since(r.start.at)
	}
	if r.elapsed >= due {
		return false
	}
	r.timer.Reset(due - r.elapsed)
	return true
}

// first is the share whose next event comes first, nil if all have ended.
func (r *reader) first() (first *share) {
	for i := range r.shares {
		s := &r.shares[i]
		if s.next < r.opts.Events && (first == nil || s.next < first.next) {
			first = s
		}
	}
	return first
}

// Splits implements operators.Reader.
func (r *reader) Splits(dst [][]byte) ([][]byte, error) {
	for _, s := range r.shares {
		if s.next < r.opts.Events {
			dst = append(dst, s.encode())
		}
	}
	return dst, nil
}

// Close implements operators.Reader.
func (r *reader) Close() error {
	if r.timer != nil {
		r.timer.Stop()
	}
	return nil
}
