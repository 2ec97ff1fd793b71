package netstack

import "time"

// FlushDue is the time at which Flush has to be called, on the clock that Flush
// is given, and whether anything is open at all.
func (p *Partition) FlushDue() (at time.Duration, pending bool) {
	return p.lastFlush + p.opts.FlushInterval, len(p.open) > 0
}

// Flush sends open buffers whose channel has nothing queued. One that has data
// queued would only wait behind it, so its buffer is left to fill: a loaded
// exchange sends full buffers whatever the flush interval is, an idle one sends
// at once. It keeps the time for FlushDue.
func (p *Partition) Flush(now time.Duration) {
	p.lastFlush = now
	for i := len(p.open) - 1; i >= 0; i-- {
		if sub := p.open[i]; p.starving(sub) {
			p.seal(sub, false, now)
		}
	}
}

// starving reports whether a receiver of builder sub has nothing queued.
func (p *Partition) starving(sub int) bool {
	if !p.opts.Broadcast {
		return p.subs[sub].empty()
	}
	for i := range p.subs {
		if p.subs[i].empty() {
			return true
		}
	}
	return false
}

func (s *subpartition) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.queue.len() == 0
}
