package overtake

import (
	"time"

	"github.com/overtake-stream/overtake/operators"
)

// AssignTimes gives each record the event time that f returns, in Unix milliseconds;
// with a nil f, the one that its source gave it. Watermarks follow at a distance: a
// record up to lag older than the latest of the subtask is still in time. So lag must
// cover how far apart the splits may be that one subtask reads, also after a restore at
// another parallelism, which deals them anew.
func AssignTimes[T any](s Stream[T], f func(v T) int64, lag time.Duration, opts ...OpOption) Stream[T] {
	return transform(s, "assignTimes", opts, func(next operators.Collector[T]) operators.Transform[T] {
		return operators.Times(f, lag.Milliseconds(), next)
	})
}

// Windowed is the result of a key's window. Its Start and End are in Unix milliseconds.
type Windowed[K comparable, V any] = operators.Windowed[K, V]

// Windows are windows of event time.
type Windows = operators.Windows

// Tumbling are windows of a size, one after the other.
func Tumbling(size time.Duration) Windows { return Windows{Size: size.Milliseconds()} }

// Sliding are windows of a size, one every slide.
func Sliding(size, slide time.Duration) Windows {
	return Windows{Size: size.Milliseconds(), Slide: slide.Milliseconds()}
}

// Window gathers the records of every key and window in an accumulator, and passes on
// the result when the watermark has passed the window's end. Records that come later
// than that are dropped. It needs event times (AssignTimes), keeps state, and so needs
// a UID.
func Window[K comparable, T, A, O any](s KeyedStream[K, T], cut Windows, agg Aggregator[T, A, O], opts ...OpOption) Stream[Windowed[K, O]] {
	return keyedTransform[K, T, Windowed[K, O]](s, "window", opts, func(next operators.Collector[Windowed[K, O]], _ opOptions) (operators.Transform[T], error) {
		return operators.WindowAggregate(s.key, cut, agg, next)
	})
}

// TimerProcessor is a Processor that sets timers of event time with
// KeyedContext.SetTimer.
type TimerProcessor[K comparable, O any] = operators.TimerProcessor[K, O]
