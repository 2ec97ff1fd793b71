package overtake

import "time"

// restarts decides whether and when a failed job is tried again. It knows no clock.
type restarts struct {
	opts   Restart
	failed []time.Time // within the window
	delay  time.Duration
}

func newRestarts(o Restart) *restarts { return &restarts{opts: o, delay: o.Delay} }

// after says how long to wait after a failure at this time, and whether to try again.
func (r *restarts) after(err error, now time.Time) (wait time.Duration, again bool) {
	if err == nil {
		return 0, false
	}
	if r.opts.Window > 0 {
		kept := r.failed[:0]
		for _, t := range r.failed {
			if now.Sub(t) < r.opts.Window {
				kept = append(kept, t)
			}
		}
		r.failed = kept
		if len(r.failed) == 0 {
			r.delay = r.opts.Delay
		}
	}
	if len(r.failed) >= r.opts.Attempts {
		return 0, false
	}
	r.failed = append(r.failed, now)
	wait = r.delay
	if r.opts.MaxDelay > r.opts.Delay {
		r.delay = min(2*r.delay, r.opts.MaxDelay)
	}
	return wait, true
}
