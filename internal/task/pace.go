package task

import "time"

// pace decides how many records run between two looks at the clock.
type pace struct {
	records int           // run at most so many before asking due again
	since   int           // run since the last look
	last    time.Duration // time of the last look
}

// The aim is a look every 25 to 100 microseconds: a look costs about 0.1, and a
// goroutine that waits for this processor hardly notices such a delay.
const (
	paceFast = 25 * time.Microsecond
	paceSlow = 100 * time.Microsecond
	paceMax  = 4096
)

// paceLook is how many records may run without a look at what is urgent: a quarter of a slice,
// since all of them may go in a run, and no more than this.
const paceLook = 64

// look is how many records may run without a look at what is urgent.
func (p *pace) look() int { return max(1, min(p.records/4, paceLook)) }

// newPace begins with single records: the first may take any time.
func newPace() pace { return pace{records: 1} }

// due reports whether n more records make it time to look at the clock.
func (p *pace) due(n int) bool {
	p.since += max(1, n)
	return p.since >= p.records
}

// adapt takes the time of a look.
func (p *pace) adapt(now time.Duration) {
	switch elapsed := now - p.last; {
	case elapsed > paceSlow:
		p.records = max(1, p.records/2)
	case elapsed < paceFast:
		p.records = min(paceMax, 2*p.records)
	}
	p.last, p.since = now, 0
}

// resume takes the time at which the subtask goes on after waiting.
func (p *pace) resume(now time.Duration) { p.last, p.since = now, 0 }
