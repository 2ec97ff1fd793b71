package operators

import (
	"errors"
	"math"
)

// Watermarks are event times in Unix milliseconds: none of what follows is expected to
// be at or before them.
const (
	NoWatermark   = math.MinInt64 // nothing is known yet
	LastWatermark = math.MaxInt64 // nothing follows
)

// Timed is an Operator that acts when event time goes on.
type Timed interface {
	// OnWatermark takes the operator's new watermark. It may collect. It returns
	// done false if it should be called again with the same one, because its outputs are
	// full or the subtask has something urgent to do.
	OnWatermark(watermark int64) (done bool, err error)
}

// Watermarker is an Operator that makes watermarks from the records that pass it, in
// the place of those that its input has.
type Watermarker interface {
	// Watermark is the present one.
	Watermark() int64
}

// times gives records their event time, and follows it.
type times[T any] struct {
	ctx  *Context
	time func(T) int64 // nil: records have theirs
	lag  int64
	last int64
	next Collector[T]
	Stateless
}

// Times returns an operator that gives each record the event time that f returns, in
// Unix milliseconds, or with a nil f takes the record's own. Its watermark is lag
// milliseconds behind the latest.
func Times[T any](f func(v T) int64, lag int64, next Collector[T]) Transform[T] {
	return &times[T]{time: f, lag: lag, last: NoWatermark, next: next}
}

// Open implements Operator.
func (t *times[T]) Open(ctx *Context) error { t.ctx = ctx; return nil }

// Collect implements Collector.
func (t *times[T]) Collect(v T) {
	if t.time != nil {
		t.ctx.Time, t.ctx.HasTime = t.time(v), true
	}
	if t.ctx.HasTime && t.ctx.Time > t.last {
		t.last = t.ctx.Time
	}
	t.next.Collect(v)
}

// Watermark implements Watermarker.
func (t *times[T]) Watermark() int64 {
	if t.last < NoWatermark+t.lag+1 {
		return NoWatermark
	}
	return t.last - t.lag - 1
}

// errPause ends a run of timers that is to go on later.
var errPause = errors.New("operators: timers go on later")
