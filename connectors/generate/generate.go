package generate

import (
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// minWait is for how long a subtask waits at least: what becomes due meanwhile comes
// with the next record. A wait costs some microseconds, so one for each record would take
// a processor at a million records a second, and delay them all.
const minWait = 100 * time.Microsecond

// Source returns the source of the records f(0), f(1) … Subtask i of p produces those
// whose number is i modulo p. All subtasks call f, each from its own goroutine.
func Source[T any](f func(n uint64) T, o Options) operators.Source[T] {
	return source[T]{f: f, opts: o}
}

type source[T any] struct {
	f    func(n uint64) T
	opts Options
}

// Open implements operators.Source.
func (s source[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	if err := s.opts.Validate(); err != nil {
		return nil, err
	}
	r := &reader[T]{source: s, wake: ctx.Wake}
	if s.opts.Rate > 0 {
		r.clock = s.opts.Clock
		if r.clock == nil {
			r.clock = perf.NewClock()
		}
		r.gap = float64(time.Second) / s.opts.Rate
		r.epoch = time.Now().UnixNano() - int64(r.clock.Now())
		r.timer = time.AfterFunc(time.Hour, r.wake)
		r.timer.Stop()
	}
	if !ctx.Restored {
		r.shares = []share{{next: uint64(ctx.Subtask), step: uint64(ctx.Parallelism), start: r.start()}}
		return r, nil
	}
	for i, b := range ctx.Splits {
		share, err := decodeShare(b)
		if err != nil {
			return nil, err
		}
		share.split = i
		r.shares = append(r.shares, share)
	}
	return r, nil
}

type reader[T any] struct {
	source[T]
	shares []share // one, or after a restore, several
	begun  bool    // they have been told of

	// with a rate
	clock perf.Clock
	now   time.Duration // what the clock said last
	epoch int64         // Unix nanoseconds when the clock said 0
	gap   float64       // nanoseconds between records
	timer *time.Timer
	wake  func()
}

// start is when record 0 is due, in Unix nanoseconds.
func (r *reader[T]) start() int64 {
	switch {
	case r.clock == nil:
		return 0
	case !r.opts.Start.IsZero():
		return r.opts.Start.UnixNano()
	}
	return r.epoch + int64(r.clock.Now())
}

// Read implements operators.Reader.
func (r *reader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	if len(r.shares) == 1 && r.clock == nil {
		return r.readAll(&r.shares[0], out), nil
	}
	if !r.begun {
		r.begun = true
		for i := range r.shares { // they are read side by side
			out.BeginSplit(r.shares[i].split)
		}
	}
	if len(r.shares) == 1 {
		return r.readDue(&r.shares[0], out), nil
	}
	for {
		s := r.first()
		switch {
		case s == nil:
			return operators.Ended, nil
		case !out.Ready():
			return operators.More, nil
		case r.clock == nil:
			out.Split(s.split)
			out.Collect(r.f(s.next))
		default:
			due := s.due(r.gap)
			if wait := r.until(due); wait > 0 {
				r.timer.Reset(max(wait, minWait))
				return operators.Idle, nil
			}
			out.Split(s.split)
			out.CollectAt(r.f(s.next), due/int64(time.Millisecond))
		}
		if s.next += s.step; s.next >= r.opts.Count {
			out.EndSplit(s.split)
		}
	}
}

// readAll reads the only share, without a rate.
func (r *reader[T]) readAll(s *share, out *operators.Output[T]) operators.Status {
	for s.next < r.opts.Count {
		batch, _ := out.Batch()
		if len(batch) == 0 {
			if !out.Ready() {
				return operators.More
			}
			r.readSome(s, out)
			continue
		}
		next, step := s.next, s.step
		n := int(min(uint64(len(batch)), (r.opts.Count-next+step-1)/step))
		batch = batch[:n]
		for i := range batch {
			batch[i] = r.f(next)
			next += step
		}
		s.next = next
		out.CollectBatch(n, false)
	}
	return operators.Ended
}

// readSome reads a few records one by one.
func (r *reader[T]) readSome(s *share, out *operators.Output[T]) {
	for n := 0; n < 16 && s.next < r.opts.Count && out.Ready(); n++ {
		out.Collect(r.f(s.next))
		s.next += s.step
	}
}

// readDue reads the only share, with a rate: at once what is due.
func (r *reader[T]) readDue(s *share, out *operators.Output[T]) operators.Status {
	out.Split(s.split)
	for s.next < r.opts.Count {
		if !out.Ready() {
			return operators.More
		}
		due := s.due(r.gap)
		if wait := r.until(due); wait > 0 {
			r.timer.Reset(max(wait, minWait))
			return operators.Idle
		}
		batch, times := out.Batch()
		if len(batch) == 0 {
			out.CollectAt(r.f(s.next), due/int64(time.Millisecond))
			s.next += s.step
			continue
		}
		n := 0
		for ; n < len(batch) && s.next < r.opts.Count; n++ {
			if due = s.due(r.gap); r.until(due) > 0 {
				break
			}
			batch[n], times[n] = r.f(s.next), due/int64(time.Millisecond)
			s.next += s.step
		}
		out.CollectBatch(n, true)
	}
	out.EndSplit(s.split)
	return operators.Ended
}

// first returns the share whose next record comes first, nil if all have ended.
func (r *reader[T]) first() *share {
	var first *share
	for i := range r.shares {
		s := &r.shares[i]
		if s.next < r.opts.Count && (first == nil || s.next < first.next) {
			first = s
		}
	}
	return first
}

// until returns how long it is until a moment in Unix nanoseconds. It looks at the
// clock only when the last look does not tell.
func (r *reader[T]) until(moment int64) time.Duration {
	at := time.Duration(moment - r.epoch)
	if r.now < at {
		r.now = r.clock.Now()
	}
	return at - r.now
}

// Splits implements operators.Reader.
func (r *reader[T]) Splits(dst [][]byte) ([][]byte, error) {
	for _, s := range r.shares {
		if s.next < r.opts.Count {
			dst = append(dst, s.encode())
		}
	}
	return dst, nil
}

// SplitNumbers implements operators.SplitReader.
func (r *reader[T]) SplitNumbers(dst []int) []int {
	for _, s := range r.shares {
		if s.next < r.opts.Count {
			dst = append(dst, s.split)
		}
	}
	return dst
}

// Close implements operators.Reader.
func (r *reader[T]) Close() error {
	if r.timer != nil {
		r.timer.Stop()
	}
	return nil
}
