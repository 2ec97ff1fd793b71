package operators

import (
	"fmt"

	"github.com/overtake-stream/overtake/internal/watermark"
)

// Source describes where records come from. It is shared by all subtasks and
// starts nothing until Open.
type Source[T any] interface {
	// Open returns the reader of one subtask.
	Open(ctx SourceContext) (Reader[T], error)
}

// Unreplayable is a Source that cannot go back to an earlier position, and says why not.
// A job with checkpoints refuses it, since what it had read would be lost in a
// recovery.
type Unreplayable interface{ Unreplayable() error }

// SourceContext tells a source which part of it to read.
type SourceContext struct {
	*Context
	// Restored says that Splits holds the positions to go on from; otherwise the
	// reader works out its share from Subtask and Parallelism, identically on
	// every worker.
	Restored bool
	Splits   [][]byte
	// Wake makes the subtask call Read again after Idle. Any goroutine may call it.
	Wake func()
}

// Status is what a Reader has to say after Read.
type Status uint8

// More: call Read again. Idle: call it after Wake. Ended: never again.
const (
	More Status = iota
	Idle
	Ended
)

// Reader reads one subtask's share of a source. It belongs to the subtask's
// goroutine and must not block: where waiting is needed, a goroutine of the
// reader's waits, and calls Wake.
type Reader[T any] interface {
	// Read collects records while out.Ready().
	Read(out *Output[T]) (Status, error)
	// Splits appends the position of each split the reader has not finished. A
	// reader opened with them goes on with the first record not yet collected.
	Splits(dst [][]byte) ([][]byte, error)
	// Close releases everything and joins the reader's goroutines.
	Close() error
}

// Output takes a reader's records.
type Output[T any] struct {
	ctx    *Context
	next   func(T)
	take   func(*Run[T]) // nil: records are taken one by one
	values []T           // lent by Batch
	times  []int64
	run    Run[T]
	budget int
}

// NewOutput returns the output that feeds next. The chain behind it is complete.
func NewOutput[T any](ctx *Context, next Collector[T]) *Output[T] {
	o := &Output[T]{ctx: ctx, next: callOf(next), take: runsOf(ctx, next)}
	if o.take != nil {
		o.values, o.times = make([]T, runMax), make([]int64, runMax)
	}
	return o
}

// Allow lets Ready be true for n more records.
func (o *Output[T]) Allow(n int) { o.budget = n }

// Ready reports whether one more record may be collected. When it is false, Read
// should return More.
func (o *Output[T]) Ready() bool {
	return o.budget > 0 && (!o.ctx.changed || o.ctx.settle())
}

// Collect passes on a record without event time. The value is lent.
func (o *Output[T]) Collect(v T) {
	o.budget--
	o.ctx.HasTime, o.ctx.Time, o.ctx.Hash = false, 0, 0
	o.next(v)
}

// CollectAt passes on a record with its event time, in Unix milliseconds.
func (o *Output[T]) CollectAt(v T, time int64) {
	o.budget--
	o.ctx.HasTime, o.ctx.Time, o.ctx.Hash = true, time, 0
	o.next(v)
}

// Batch lends the places of as many records as may be collected at once by CollectBatch, and of
// their event times: that costs less than to collect them one by one. It lends none where
// records must be collected one by one, or Ready is false.
func (o *Output[T]) Batch() (values []T, times []int64) {
	if o.take == nil {
		return nil, nil
	}
	return o.batch()
}

func (o *Output[T]) batch() ([]T, []int64) {
	if !o.Ready() {
		return nil, nil
	}
	n := o.ctx.room(o.budget)
	if n == 1 {
		return nil, nil
	}
	return o.values[:n], o.times[:n]
}

// CollectBatch passes on the first n records in what Batch has lent, at least one, with their
// event times if timed is set.
func (o *Output[T]) CollectBatch(n int, timed bool) {
	o.budget -= n
	o.run.Values, o.run.Times = o.values[:n], nil
	if timed {
		o.run.Times = o.times[:n]
	}
	o.take(&o.run)
}

// Split says that the records that follow come from split n of the reader, a number of its
// own choice from 0 to MaxSplits-1. An AssignTimes in the source's chain makes a watermark of
// each split and takes the least, so it does not matter how far apart they are. A split counts
// from its first record on, or from BeginSplit. A reader that never calls it has one split, 0.
//
// Of a reader that is opened with positions, split i is that of the i-th of them, until it
// says otherwise. It must be a SplitReader, so that the splits' watermarks are in checkpoints.
func (o *Output[T]) Split(n int) {
	if o.valid(n) {
		o.ctx.split = n
	}
}

// valid fails the job if n is no split's number.
func (o *Output[T]) valid(n int) bool {
	if n < 0 || n >= MaxSplits {
		o.ctx.Fail(fmt.Errorf("operators: split %d, want 0 to %d", n, MaxSplits-1))
		return false
	}
	return true
}

// BeginSplit lets split n hold the watermark from now on, before it has its first record.
// Call it at the first Read, whatever that returns, for all splits that the reader goes through
// in no order of time: else event time goes on without those that it has not come to.
func (o *Output[T]) BeginSplit(n int) {
	if o.ctx.maker != nil && o.valid(n) {
		o.ctx.maker.Begin(n)
	}
}

// EndSplit says that split n has no more records.
func (o *Output[T]) EndSplit(n int) {
	if o.ctx.maker != nil && o.valid(n) {
		o.ctx.maker.End(n)
	}
}

// DrySplit says that there is nothing to be had from split n at present, though perhaps from
// others: if that lasts, it is idle. (Read says so of all of them when it returns Idle.)
func (o *Output[T]) DrySplit(n int) {
	if o.ctx.maker != nil && o.valid(n) {
		o.ctx.maker.Dry(n)
	}
}

// MaxSplits bounds the numbers of a reader's splits.
const MaxSplits = watermark.MaxSplits

// SplitReader is a Reader that calls Output.Split.
type SplitReader interface {
	// SplitNumbers appends the numbers of the splits that Splits gives, in the same order.
	SplitNumbers(dst []int) []int
}

// Puller drives a reader of any type: the untyped side of a source.
type Puller interface {
	// Open opens the reader.
	Open(ctx SourceContext) error
	// Pull lets the reader collect at most n records and says how many it did.
	Pull(n int) (read int, status Status, err error)
	// Splits is Reader.Splits.
	Splits(dst [][]byte) ([][]byte, error)
	// SplitNumbers is SplitReader.SplitNumbers. Of a reader that is none, ok is not set.
	SplitNumbers(dst []int) (numbers []int, ok bool)
	// Close closes the reader, if it was opened.
	Close() error
}

type puller[T any] struct {
	source Source[T]
	next   Collector[T]
	reader Reader[T]
	out    *Output[T]
}

// NewPuller returns the puller that feeds next from a source.
func NewPuller[T any](source Source[T], next Collector[T]) Puller {
	return &puller[T]{source: source, next: next}
}

// Open implements Puller.
func (p *puller[T]) Open(ctx SourceContext) (err error) {
	p.out = NewOutput(ctx.Context, p.next)
	p.reader, err = p.source.Open(ctx)
	return err
}

// Pull implements Puller.
func (p *puller[T]) Pull(n int) (int, Status, error) {
	p.out.Allow(n)
	status, err := p.reader.Read(p.out)
	return n - p.out.budget, status, err
}

// Splits implements Puller.
func (p *puller[T]) Splits(dst [][]byte) ([][]byte, error) { return p.reader.Splits(dst) }

// SplitNumbers implements Puller.
func (p *puller[T]) SplitNumbers(dst []int) ([]int, bool) {
	r, ok := p.reader.(SplitReader)
	if !ok {
		return dst, false
	}
	return r.SplitNumbers(dst), true
}

// Close implements Puller.
func (p *puller[T]) Close() error {
	if p.reader == nil {
		return nil
	}
	return p.reader.Close()
}
