package probe

// Sampler chooses the messages to look at. It has one owner; the zero Sampler is
// ready.
//
// At the rate Adaptive that is one of 64 while messages are few and of 1,024 while they
// are many: at most one per millisecond beyond the latter, but at least one in 10 ms.
// Then about 1% of a loaded sender's time, and less of an idle one's, is spent on it.
type Sampler struct {
	count uint64 // messages since the last one chosen
	last  int64  // when that was, ns
}

const (
	leastGap = 1e6  // ns between messages of those chosen beyond one of 1,024
	mostGap  = 10e6 // ns after which the next message is chosen
)

// Next reports whether to look at the next message, and the time if so. Call it while
// Attached.
func (s *Sampler) Next() (now int64, chosen bool) { return s.next(attached(), Now) }

func (s *Sampler) next(rate Rate, clock func() int64) (now int64, chosen bool) {
	s.count++
	switch rate {
	case Every:
	case Every64:
		if s.count < 64 {
			return 0, false
		}
	case Every1024:
		if s.count < 1024 {
			return 0, false
		}
	case Adaptive:
		now = clock()
		gap := now - s.last
		if s.count < 1024 && gap < mostGap && (s.count < 64 || gap < leastGap) {
			return 0, false
		}
	}
	if now == 0 {
		now = clock()
	}
	s.count, s.last = 0, now
	return now, true
}
