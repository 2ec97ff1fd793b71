package operators

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Windows cut time into windows of Size milliseconds, one every Slide: tumbling ones if the
// two are equal, overlapping ones if Slide is smaller. With a Gap instead, they are the
// sessions of each key: a session ends when there has been no record of the key for Gap.
type Windows struct {
	Size, Slide int64 // milliseconds; Slide 0 means Size
	Gap         int64 // milliseconds; 0: they are no sessions
	Processing  bool  // of processing time, not of event time
}

// Validate reports what is wrong with the windows.
func (w Windows) Validate() error {
	if w.Gap != 0 {
		return w.validateSessions()
	}
	if w.Size < 1 || w.Slide < 0 || w.Slide > w.Size {
		return fmt.Errorf("windows of %d ms every %d ms: want a size of 1 ms or more, and a slide from 1 ms to the size", w.Size, w.Slide)
	}
	return nil
}

// last is the start of the latest window that contains a time.
func (w Windows) last(t int64) int64 {
	r := t % w.Slide
	if r < 0 {
		r += w.Slide
	}
	return t - r
}

// Windowed is the result of a key's window. Times are in Unix milliseconds, Start
// inclusive, End exclusive.
type Windowed[K comparable, V any] struct {
	Key        K
	Start, End int64
	Value      V
}

// ErrNoTime says that a record without event time came to an operator that needs it.
var ErrNoTime = errors.New("record has no event time: assign it with AssignTimes")

// windows is the Processor behind WindowAggregate.
type windows[K comparable, T, A, O any] struct {
	cut   Windows
	agg   Aggregator[T, A, O]
	ctx   *KeyedContext
	state *ValueState[A]
	late  uint64 // records that came after all their windows

	v     T    // being added
	first bool // it is the first of its key and window: there is no timer yet
	add   func(acc A, ok bool) (A, bool)
	ns    [8]byte
}

// WindowAggregate returns an operator that gathers the records of each key and window
// in an accumulator, and passes on its result when the watermark, or the clock, has passed
// the window's end. Records that come later than that are dropped.
func WindowAggregate[K comparable, T, A, O any](key func(T) K, cut Windows, agg Aggregator[T, A, O], next Collector[Windowed[K, O]]) (Transform[T], error) {
	if err := cut.Validate(); err != nil {
		return nil, err
	}
	if cut.Gap > 0 {
		return sessionAggregate(key, cut, agg, next)
	}
	if cut.Slide == 0 {
		cut.Slide = cut.Size
	}
	w := &windows[K, T, A, O]{cut: cut, agg: agg}
	w.add = func(acc A, ok bool) (A, bool) {
		w.first = !ok
		w.agg.Add(&acc, w.v)
		return acc, true
	}
	if cut.Processing {
		return Process[K, T, Windowed[K, O]](key, &processingWindows[K, T, A, O]{w}, next)
	}
	return Process[K, T, Windowed[K, O]](key, w, next)
}

// Open implements Processor.
func (w *windows[K, T, A, O]) Open(ctx *KeyedContext) (err error) {
	w.ctx = ctx
	w.state, err = NewValueState[A](ctx, "windows")
	return err
}

// Process implements Processor.
func (w *windows[K, T, A, O]) Process(_ K, v T, _ Collector[Windowed[K, O]]) error {
	if !w.ctx.HasTime {
		return ErrNoTime
	}
	t, in := w.ctx.Time, false
	for start := w.cut.last(t); start > t-w.cut.Size; start -= w.cut.Slide {
		end := start + w.cut.Size - 1
		if end <= w.ctx.Watermark {
			break // and those before it
		}
		in = true
		w.enter(start)
		first, err := w.gather(v)
		if err != nil {
			return err
		}
		if first {
			if err := w.ctx.SetTimer(end); err != nil {
				return err
			}
		}
	}
	if !in {
		w.late++
	}
	return nil
}

// gather adds a record to the accumulator of the window entered. first says that it is the
// first of its key and window: there is no timer yet.
func (w *windows[K, T, A, O]) gather(v T) (first bool, err error) {
	acc, first, err := w.state.Place()
	if err != nil {
		return false, err
	}
	if acc != nil {
		w.agg.Add(acc, v)
		return first, nil
	}
	w.v = v
	err = w.state.Update(w.add)
	return w.first, err
}

// enter makes a window the namespace of the state.
func (w *windows[K, T, A, O]) enter(start int64) {
	binary.LittleEndian.PutUint64(w.ns[:], uint64(start))
	w.ctx.states.SetNamespace(w.ns[:])
}

// OnTimer implements TimerProcessor.
func (w *windows[K, T, A, O]) OnTimer(key K, at int64, out Collector[Windowed[K, O]]) error {
	start := at + 1 - w.cut.Size
	w.enter(start)
	acc, ok, err := w.state.Get()
	if err != nil || !ok {
		return err
	}
	out.Collect(Windowed[K, O]{Key: key, Start: start, End: at + 1, Value: w.agg.Result(&acc)})
	return w.state.Clear()
}
