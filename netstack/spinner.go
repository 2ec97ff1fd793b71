package netstack

import "time"

const (
	// shortSpin costs a tenth of what waking a halted virtual CPU does, longSpin as much.
	shortSpin = 5 * time.Microsecond
	longSpin  = 50 * time.Microsecond

	spinWindow               = 64                    // idle times after which to judge
	spinWorth                = 15 * time.Microsecond // what going to sleep and being woken costs, roughly
	spinNear                 = 75 * time.Microsecond // an idle time that a long spin might have ended: asleep, it takes longer to notice
	minPatience, maxPatience = 8, 256                // windows until a long spin that was in vain is tried again
)

// spinner decides for how long the I/O loop looks for events before it sleeps. A long spin
// pays if what comes next comes soon: nobody has to be woken. It does harm if it takes more
// processor time than that would, and if it keeps the processor from the very peer whose answer
// is awaited, which cannot be seen from here. So it is tried when idle times are short, and given
// up, for longer each time, if spinning took too long on average, found something or not.
//
// Both ends of a busy connection have the same idle times, so they try at about the same time:
// that matters, since one that sleeps makes the other wait.
type spinner struct {
	long bool

	count, near int           // of this window
	spun        time.Duration // in this window
	patience    int           // windows to wait after the next failure
	wait        int           // windows until long may be tried
}

// limit returns for how long to spin.
func (s *spinner) limit() time.Duration {
	if s.long {
		return longSpin
	}
	return shortSpin
}

// idled takes for how long there was nothing to do, spinning and asleep.
func (s *spinner) idled(d time.Duration) {
	s.spun += min(d, s.limit())
	if d < spinNear {
		s.near++
	}
	if s.count++; s.count < spinWindow {
		return
	}
	switch {
	case !s.long:
		s.wait = max(0, s.wait-1)
		s.long = s.wait == 0 && s.near > spinWindow*3/4
	case s.spun <= spinWindow*spinWorth:
		s.patience = 0
	default:
		s.long = false
		s.patience = min(max(2*s.patience, minPatience), maxPatience)
		s.wait = s.patience
	}
	s.count, s.near, s.spun = 0, 0, 0
}
