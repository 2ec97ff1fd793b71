package overtake

import (
	"cmp"
	"time"

	"github.com/overtake-stream/overtake/internal/watermark"
	"github.com/overtake-stream/overtake/operators"
)

// Windowed is the result of a key's window. Its Start and End are in Unix milliseconds.
type Windowed[K comparable, V any] = operators.Windowed[K, V]

// Windows are windows of time: Tumbling, Sliding and Session ones. They are windows of
// event time, unless their ProcessingTime method says otherwise:
//
//	overtake.Tumbling(time.Minute)                           // of event time
//	overtake.Session(30 * time.Minute)                       // the same
//	overtake.Sliding(time.Minute, time.Second).ProcessingTime()
type Windows = operators.Windows

// Tumbling are windows of a size, one after the other.
func Tumbling(size time.Duration) Windows { return Windows{Size: size.Milliseconds()} }

// Sliding are windows of a size, one every slide.
func Sliding(size, slide time.Duration) Windows {
	return Windows{Size: size.Milliseconds(), Slide: slide.Milliseconds()}
}

// Session are the sessions of each key: records less than gap apart share one. Its Start is
// the time of its first record, its End is gap after its last one. A record between two
// sessions makes them one: so the Aggregator needs a Merge function.
//
//	visits := overtake.Window(overtake.KeyBy(clicks, user), overtake.Session(30*time.Minute),
//		overtake.Aggregator[Click, int64, int64]{
//			Add:    func(n *int64, _ Click) { *n++ },
//			Merge:  func(n, later *int64) { *n += *later },
//			Result: func(n *int64) int64 { return *n },
//		}, overtake.WithUID("visits"))
func Session(gap time.Duration) Windows {
	return Windows{Gap: cmp.Or(gap.Milliseconds(), -1)} // 0 would be no session
}

// Window gathers the records of every key and window in an accumulator, and passes on
// the result when the watermark has passed the window's end. Records that come later
// than that are dropped; a session has ended when it is passed on, so that only what would
// belong to no open one is late. It needs event times (AssignTimes), keeps state, and so
// needs a UID.
//
// Windows of processing time need no event times. A record is in those of the moment at
// which it is processed, and none is late. Their results are passed on when the clock has
// passed their end, also after a restore; what is open when the input ends, at once. The
// event time of a result is the last moment of its window.
//
//	perMinute := overtake.Window(overtake.KeyBy(orders, customer),
//		overtake.Tumbling(time.Minute).ProcessingTime(), sum, overtake.WithUID("per minute"))
func Window[K comparable, T, A, O any](s KeyedStream[K, T], cut Windows, agg Aggregator[T, A, O], opts ...OpOption) Stream[Windowed[K, O]] {
	out := keyedTransform[K, T, Windowed[K, O]](s, "window", opts, func(next operators.Collector[Windowed[K, O]], _ opOptions) (operators.Transform[T], error) {
		return operators.WindowAggregate(s.key, cut, agg, next)
	})
	n := out.ends[0].node
	n.timed = !cut.Processing
	if err := cut.Validate(); err != nil {
		n.errs = append(n.errs, err)
		return out
	}
	if cut.Gap > 0 && agg.Merge == nil {
		n.errs = append(n.errs, operators.ErrMerge)
	}
	if every := cut.Slide; cut.Gap == 0 && !cut.Processing { // else nobody knows when they end
		if every == 0 {
			every = cut.Size
		}
		n.windows = &watermark.Ends{Every: every, Offset: cut.Size % every}
	}
	return out
}

// TimerProcessor is a Processor that sets timers of event time with
// KeyedContext.SetTimer.
type TimerProcessor[K comparable, O any] = operators.TimerProcessor[K, O]

// ProcessingTimerProcessor is a Processor that sets timers of processing time with
// KeyedContext.SetProcessingTimer:
//
//	func (p *reminder) Process(_ string, o Order, _ overtake.Collector[Alert]) error {
//		return p.ctx.SetProcessingTimer(p.ctx.ProcessingTime() + time.Minute.Milliseconds())
//	}
//
//	func (p *reminder) OnProcessingTimer(customer string, _ int64, out overtake.Collector[Alert]) error {
//		out.Collect(Alert{customer})
//		return nil
//	}
//
// They fire between two records. See KeyedContext.SetProcessingTimer.
type ProcessingTimerProcessor[K comparable, O any] = operators.ProcessingTimerProcessor[K, O]
