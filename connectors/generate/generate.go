// Package generate has a source that computes its records: for load, for tests and
// for benchmarks.
//
// Record number n is a function of n alone, so that any number of subtasks, or a job
// that goes on from a checkpoint, produce the same records.
package generate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/perf"
)

// Options says how many records, and how fast.
type Options struct {
	// Count is the number of records over all subtasks; required. Forever is as good
	// as without end.
	Count uint64
	// Rate is records per second over all subtasks. Record n is due n/Rate seconds
	// after the start, whether or not the job keeps up, and that moment is its event
	// time. Zero: as fast as the job takes them, without event time.
	Rate float64
	// Clock tells the time since the start. Default: the system's.
	Clock perf.Clock
}

// Forever is a Count that no job reaches.
const Forever = math.MaxUint64 >> 1

// Source returns the source of the records f(0), f(1) … Subtask i of p produces those
// whose number is i modulo p.
func Source[T any](f func(n uint64) T, o Options) operators.Source[T] {
	return source[T]{f: f, opts: o}
}

type source[T any] struct {
	f    func(n uint64) T
	opts Options
}

// Open implements operators.Source.
func (s source[T]) Open(ctx operators.SourceContext) (operators.Reader[T], error) {
	if s.opts.Count == 0 || s.opts.Rate < 0 || math.IsNaN(s.opts.Rate) {
		return nil, fmt.Errorf("generate: count %d and rate %v: want at least 1 and at least 0", s.opts.Count, s.opts.Rate)
	}
	r := &reader[T]{source: s, wake: ctx.Wake, base: time.Now().UnixMilli()}
	if r.opts.Clock == nil {
		r.opts.Clock = perf.NewClock()
	}
	r.timer = time.AfterFunc(time.Hour, r.wake)
	r.timer.Stop()
	if !ctx.Restored {
		r.ranges = []numbers{{next: uint64(ctx.Subtask), step: uint64(ctx.Parallelism)}}
		return r, nil
	}
	for _, b := range ctx.Splits {
		if len(b) != 16 {
			return nil, errors.New("generate: damaged position")
		}
		r.ranges = append(r.ranges, numbers{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])})
	}
	return r, nil
}

// numbers is every step-th number from next on.
type numbers struct{ next, step uint64 }

type reader[T any] struct {
	source[T]
	ranges []numbers
	wake   func()
	base   int64 // Unix milliseconds at the start
	timer  *time.Timer
	now    time.Duration // as last looked at
}

// Read implements operators.Reader.
func (r *reader[T]) Read(out *operators.Output[T]) (operators.Status, error) {
	for len(r.ranges) > 0 {
		n := &r.ranges[0]
		if n.next >= r.opts.Count {
			r.ranges = r.ranges[1:]
			continue
		}
		if !out.Ready() {
			return operators.More, nil
		}
		if r.opts.Rate == 0 {
			out.Collect(r.f(n.next))
		} else if due := time.Duration(float64(n.next) / r.opts.Rate * float64(time.Second)); !r.reached(due) {
			r.timer.Reset(due - r.now)
			return operators.Idle, nil
		} else {
			out.CollectAt(r.f(n.next), r.base+due.Milliseconds())
		}
		n.next += n.step
		// Several ranges take turns, so that none falls behind in time.
		if len(r.ranges) > 1 {
			r.ranges = append(r.ranges[1:], *n)
		}
	}
	return operators.Ended, nil
}

// reached reports whether a moment has come. It looks at the clock only when the
// last look does not tell.
func (r *reader[T]) reached(due time.Duration) bool {
	if r.now < due {
		r.now = r.opts.Clock.Now()
	}
	return r.now >= due
}

// Splits implements operators.Reader.
func (r *reader[T]) Splits(dst [][]byte) ([][]byte, error) {
	for _, n := range r.ranges {
		b := binary.LittleEndian.AppendUint64(nil, n.next)
		dst = append(dst, binary.LittleEndian.AppendUint64(b, n.step))
	}
	return dst, nil
}

// Close implements operators.Reader.
func (r *reader[T]) Close() error {
	r.timer.Stop()
	return nil
}
