package operators

import (
	"errors"

	"github.com/overtake-stream/overtake/internal/watermark"
)

// Watermarks are event times in Unix milliseconds: none of what follows is expected to
// be at or before them.
const (
	NoWatermark   = watermark.None // nothing is known yet
	LastWatermark = watermark.Last // nothing follows
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
	// Maker is how far they are. It belongs to the subtask's goroutine.
	Maker() *watermark.Maker
}

// times gives records their event time, and follows it.
type times[T any] struct {
	ctx   *Context
	time  func(T) int64 // nil: records have theirs
	maker *watermark.Maker
	next  Collector[T]
	Stateless
}

// Times returns an operator that gives each record the event time that f returns, in
// Unix milliseconds, or with a nil f takes the record's own. Its watermark is o.Lag
// milliseconds behind the latest of each split that the records come from.
func Times[T any](f func(v T) int64, o watermark.Options, next Collector[T]) Transform[T] {
	return &times[T]{time: f, maker: watermark.NewMaker(o), next: next}
}

// Open implements Operator.
func (t *times[T]) Open(ctx *Context) error { t.ctx = ctx; return nil }

// Collect implements Collector.
func (t *times[T]) Collect(v T) {
	if t.time != nil {
		t.ctx.Time, t.ctx.HasTime = t.time(v), true
	}
	if t.ctx.split != t.maker.At {
		t.enter()
	}
	if t.ctx.HasTime {
		t.follow(t.ctx.Time)
	}
	t.next.Collect(v)
}

// follow takes the time of a record.
func (t *times[T]) follow(time int64) {
	if s := t.maker.Current; time > s.Latest {
		if s.Latest = time; s.Latest >= s.Edge {
			t.maker.Cross()
		}
	}
}

// enter takes the first record from another split, or after a pause.
func (t *times[T]) enter() {
	t.maker.Enter(t.ctx.split)
	if t.ctx.active != nil {
		t.ctx.active(t.maker)
	}
}

// Maker implements Watermarker.
func (t *times[T]) Maker() *watermark.Maker { return t.maker }

// errPause ends a run of timers that is to go on later.
var errPause = errors.New("operators: timers go on later")
