package state

import (
	"slices"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// tally counts latencies in nanoseconds.
type tally struct {
	few  [1 << 15]int64
	many []int64
}

func (t *tally) add(d time.Duration) {
	if n := max(0, int64(d)); n < int64(len(t.few)) {
		t.few[n]++
	} else {
		t.many = append(t.many, n)
	}
}

func (t *tally) counts() (list [][2]int64) {
	for n, c := range t.few {
		if c > 0 {
			list = append(list, [2]int64{int64(n), c})
		}
	}
	slices.Sort(t.many)
	for _, n := range t.many {
		list = append(list, [2]int64{n, 1})
	}
	return list
}

// suspect is the latency from which on a thread may have lost the processor meanwhile.
const suspect = 5 * time.Microsecond

// watch tells how much of a latency the calling thread had the processor. To ask takes
// longer than most operations, so it asks only behind a suspicious one, and now and then:
// what other programs took since it asked last is then taken to be in this one, all but
// less than suspect.
type watch struct {
	clock, busy perf.Clock
	wall, used  time.Duration // when it asked last
	left        int           // operations until it asks again
}

// asks is after how many operations a watch asks at the latest.
const asks = 4096

func (w *watch) start() {
	w.wall, w.used, w.left = w.clock.Now(), w.busy.Now(), asks
}

// own is the part of a latency d, which has just ended, that the thread had the
// processor. The time that asking takes is in no latency if the next one begins now.
func (w *watch) own(d time.Duration) (own time.Duration, asked bool) {
	if w.left--; d < suspect {
		if w.left > 0 {
			return d, false
		}
		w.start()
		return d, true
	}
	wall, used := w.wall, w.used
	w.start()
	lost := (w.wall - wall) - (w.used - used)
	return min(d, max(0, d-lost)), true
}
