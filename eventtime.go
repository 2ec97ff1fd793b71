package overtake

import (
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/operators"
)

// AssignTimes gives each record the event time that f returns, in Unix milliseconds;
// with a nil f, the one that its source gave it. Watermarks follow at a distance: a
// record up to lag older than the latest is still in time. In the chain of a source, the
// latest is that of the record's split, and the watermark the least of the splits': they may
// be as far apart as they like, also after a restore at another parallelism, which deals
// them anew. Elsewhere it is the latest of the subtask. See IdleAfter and WatermarkEvery.
func AssignTimes[T any](s Stream[T], f func(v T) int64, lag time.Duration, opts ...OpOption) Stream[T] {
	o := collect(opts)
	n := s.job.add("assignTimes", o)
	if o.idleAfter < 0 || o.watermarkEvery < 0 {
		n.errs = append(n.errs, fmt.Errorf("IdleAfter(%v), WatermarkEvery(%v): want no less than 0", o.idleAfter, o.watermarkEvery))
	}
	n.operator = func(next any) (operators.Operator, any, error) {
		t := operators.Times(f, watermark.Options{
			Lag: lag.Milliseconds(), IdleAfter: o.idleAfter, Every: o.watermarkEvery, Ends: n.ends(nil, map[*node]bool{}),
		}, next.(operators.Collector[T]))
		return t, t, nil
	}
	s.connect(n)
	return output[T](s.job, n, o)
}

// IdleAfter makes an AssignTimes idle when there have been no records to be had for d: the
// operators behind it then do not wait for its watermarks, if they have others. The same goes
// for each split of a source that tells them apart. When records come again, event time goes
// on from where it is by then: what is older than the others' watermark is late. By default
// nothing is ever idle.
//
// Only time without records counts, not that in which they wait for room in the outputs.
func IdleAfter(d time.Duration) OpOption { return opOption(func(o *opOptions) { o.idleAfter = d }) }

// WatermarkEvery is how often an AssignTimes makes a watermark, 1 ms if not given: how late
// timers may be. Each goes to all subtasks of the next operator. The results of windows do not
// wait for it: a watermark that ends windows is made at once.
func WatermarkEvery(d time.Duration) OpOption {
	return opOption(func(o *opOptions) { o.watermarkEvery = d })
}

// ends are the ends of all windows downstream of a node.
func (n *node) ends(list []watermark.Ends, seen map[*node]bool) []watermark.Ends {
	for _, e := range n.outputs {
		if seen[e.to] {
			continue
		}
		seen[e.to] = true
		if w := e.to.windows; w != nil && !slices.Contains(list, *w) {
			list = append(list, *w)
		}
		list = e.to.ends(list, seen)
	}
	return list
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
	out := keyedTransform[K, T, Windowed[K, O]](s, "window", opts, func(next operators.Collector[Windowed[K, O]], _ opOptions) (operators.Transform[T], error) {
		return operators.WindowAggregate(s.key, cut, agg, next)
	})
	if every := max(cut.Slide, 0); cut.Validate() == nil { // else building it reports that
		if every == 0 {
			every = cut.Size
		}
		out.ends[0].node.windows = &watermark.Ends{Every: every, Offset: cut.Size % every}
	}
	return out
}

// TimerProcessor is a Processor that sets timers of event time with
// KeyedContext.SetTimer.
type TimerProcessor[K comparable, O any] = operators.TimerProcessor[K, O]
