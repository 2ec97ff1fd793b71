package offset

const (
	// MaxDrift is how much two clocks are taken to drift apart at most, as 1 ns in so
	// many: 200 parts in a million.
	MaxDrift = 5000
	// burst is how many answers the first questions follow at once.
	burst = 8
	// patience is how many ticks a question waits for its answer.
	patience = 10
	// maxTrip is how long a round trip may take to be worth anything: an hour.
	maxTrip = 3600e9
)

// Estimate says that the peer's clock is ahead of the own one by Offset, give or take
// Error, both in nanoseconds.
type Estimate struct {
	Offset int64
	Error  int64
}

// Estimator is the asking side for one peer. The zero Estimator knows nothing.
type Estimator struct {
	known     bool
	low, high int64 // what the offset was between
	at        int64 // at this time of the own clock

	begun   bool  // a question has been asked
	asked   int64 // when, the last one
	open    bool  // it has no answer yet
	waited  int   // ticks since then
	answers int   // up to burst
	jumps   uint64
}

// Tick is called at an interval, while the estimate is wanted. It reports whether to ask
// now: there is at most one question open, and one that gets no answer is given up.
func (e *Estimator) Tick() (ask bool) {
	if e.open {
		e.waited++
	}
	return !e.open || e.waited >= patience
}

// Ask notes that a question leaves at a time of the own clock, which identifies it.
func (e *Estimator) Ask(now int64) { e.begun, e.open, e.asked, e.waited = true, true, now, 0 }

// Answer takes the answer to the question that was asked at asked: the times at which
// the peer had received the question and has sent the answer, on its clock, and the time
// now, at which the answer is here. One that comes late, to a question that was given up,
// still says what it says; one that cannot be, or to no question at all, is worth nothing.
// It reports whether to ask again at once.
func (e *Estimator) Answer(asked, received, replied, now int64) (ask bool) {
	if !e.begun || e.asked-asked < 0 {
		return false
	}
	last := e.open && asked == e.asked
	e.open = e.open && !last
	low, high := replied-now, received-asked+drift(now-asked)
	trip := high - low
	if now-asked < 0 || replied-received < 0 || trip < 0 || trip > maxTrip {
		return false
	}
	e.narrow(low, high, now)
	e.answers = min(e.answers+1, burst)
	return last && e.answers < burst
}

// narrow adds that the offset is between low and high now.
func (e *Estimator) narrow(low, high, now int64) {
	wasLow, wasHigh, fits := e.between(now)
	if fits && wasLow-high <= 0 && low-wasHigh <= 0 {
		if wasLow-low > 0 {
			low = wasLow
		}
		if high-wasHigh > 0 {
			high = wasHigh
		}
	} else if e.known {
		e.jumps++
	}
	e.known, e.low, e.high, e.at = true, low, high, now
}

// between is what the offset is known to be between now.
func (e *Estimator) between(now int64) (low, high int64, known bool) {
	age := now - e.at
	if !e.known || age < 0 {
		return 0, 0, false
	}
	return e.low - drift(age), e.high + drift(age), true
}

// drift is how far clocks may have drifted apart in a time.
func drift(age int64) int64 { return age/MaxDrift + 1 }

// At returns the estimate at a time of the own clock. There is none before the first
// answer. A time a little before the last answer is taken for that of the answer.
func (e *Estimator) At(now int64) (Estimate, bool) {
	if e.known && now-e.at < 0 {
		now = e.at
	}
	low, high, known := e.between(now)
	if !known {
		return Estimate{}, false
	}
	return Estimate{Offset: low + (high-low)/2, Error: (high - low + 1) / 2}, true
}

// Jumps is how often an answer has not fitted what was known.
func (e *Estimator) Jumps() uint64 { return e.jumps }
