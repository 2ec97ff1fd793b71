package netstack

import "time"

const (
	// shortSpin costs a tenth of what waking a halted virtual CPU does, longSpin as much.
	shortSpin = 5 * time.Microsecond
	longSpin  = 50 * time.Microsecond

	spinWindow               = 64                    // idle times after which to judge
	spinWorth                = 15 * time.Microsecond // what going to sleep and being woken costs, roughly
	spinNear                 = 75 * time.Microsecond // an idle time that a long spin might have ended: asleep, it takes longer to notice
	spinFound                = spinWindow / 8        // short spins that must find something
	minPatience, maxPatience = 8, 256                // windows until a spin that was in vain is tried again
)

// spinner decides for how long the I/O loop looks for events before it sleeps. A long spin
// pays if what comes next comes soon: nobody has to be woken. It does harm if it takes more
// processor time than that would, and if it keeps the processor from the very peer whose answer
// is awaited, which cannot be seen from here. So it is tried when idle times are short, and given
// up, for longer each time, if spinning took too long on average, found something or not.
//
// A short spin costs little, but it keeps the peer waiting as well: on one processor, half of a
// round trip was such spins. So it is given up in the same way where it finds hardly anything:
// then the loop looks once.
//
// Both ends of a busy connection have the same idle times, so they try at about the same time:
// that matters, since one that sleeps makes the other wait.
type spinner struct {
	mode  spinMode
	short patience
	long  patience

	count, near, found int           // of this window
	spun               time.Duration // in this window
}

// spinMode is for how long to spin.
type spinMode uint8

const (
	spinShort spinMode = iota // at first
	spinLong
	spinOnce
)

// patience counts windows until something that was in vain may be tried again.
type patience struct {
	next int // windows to wait after the next failure
	wait int // windows left
}

func (p *patience) failed() {
	p.next = min(max(2*p.next, minPatience), maxPatience)
	p.wait = p.next
}

func (p *patience) passed() bool {
	p.wait = max(0, p.wait-1)
	return p.wait == 0
}

// limit returns for how long to spin.
func (s *spinner) limit() time.Duration {
	switch s.mode {
	case spinLong:
		return longSpin
	case spinShort:
		return shortSpin
	}
	return 0
}

// idled takes for how long there was nothing to do, spinning and asleep.
func (s *spinner) idled(d time.Duration) {
	limit := s.limit()
	s.spun += min(d, limit)
	if d < limit {
		s.found++
	}
	if d < spinNear {
		s.near++
	}
	if s.count++; s.count < spinWindow {
		return
	}
	s.judge()
	s.count, s.near, s.found, s.spun = 0, 0, 0, 0
}

// judge chooses the mode of the next window.
func (s *spinner) judge() {
	if s.mode == spinLong {
		if s.spun <= spinWindow*spinWorth {
			s.long.next = 0
		} else {
			s.long.failed()
			s.mode = spinShort
		}
		return
	}
	if s.mode == spinShort && s.found < spinFound {
		s.short.failed()
		s.mode = spinOnce
	} else if s.mode == spinShort {
		s.short.next = 0
	} else if s.short.passed() {
		s.mode = spinShort
	}
	if s.long.passed() && s.near > spinWindow*3/4 {
		s.mode = spinLong
	}
}
