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
	n.times = true
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
