package watermark

import (
	"math"
	"time"
)

// Ends are times of event time at which something ends, one every Every milliseconds: those
// that are Offset modulo Every.
type Ends struct{ Every, Offset int64 }

// after is the first of them after t.
func (e Ends) after(t int64) int64 {
	r := (t - e.Offset) % e.Every
	if r < 0 {
		r += e.Every
	}
	if t > math.MaxInt64-e.Every {
		return math.MaxInt64
	}
	return t - r + e.Every
}

// Options says how a Maker makes watermarks.
type Options struct {
	Lag       int64         // milliseconds that a record may be older than the latest of its split
	IdleAfter time.Duration // without records, a split is idle; 0: never
	Every     time.Duration // how often watermarks are made; for whoever asks
	Ends      []Ends        // which watermarks others wait for
}

// Split is one split's event time. Its fields are the operator's to write: for each record
// whose time is later than Latest, set that, and if it is Edge or later, call Maker.Cross.
type Split struct {
	Latest int64 // time of a record
	Edge   int64

	seen  bool          // it counts
	dry   bool          // there are no records to be had
	since time.Duration // that was noted, if dry; negative: not yet
}

// Maker makes the watermark of records that come from one or more splits: the least of its
// splits'. A split counts once it has begun, and until it ends; an idle one does not.
//
// Whether there are records to be had is for others to say: a split that waits for its turn,
// or for room in the outputs, is not idle.
type Maker struct {
	// Current is the split that records come from, At its number; -1: call Enter before
	// the next record.
	Current *Split
	At      int

	opts    Options
	merge   Merge
	splits  []*Split      // by number
	dry     bool          // there is nothing to be had from any split
	said    bool          // the last Look has found it idle
	since   time.Duration // that was noted, if dry
	crossed bool
}

// MaxSplits bounds the numbers of splits.
const MaxSplits = 1 << 20

// NewMaker returns a Maker without splits.
func NewMaker(o Options) *Maker {
	return &Maker{opts: o, merge: NewMerge(0), At: -1}
}

// Options are those it was made with.
func (m *Maker) Options() Options { return m.opts }

// at returns a split by its number.
func (m *Maker) at(n int) *Split {
	for len(m.splits) <= n {
		m.splits = append(m.splits, &Split{Latest: None, Edge: None})
		m.merge.inputs = append(m.merge.inputs, Input{Mark: None, Ended: true}) // until it begins
	}
	return m.splits[n]
}

// Begin lets split n, from 0 to MaxSplits-1, count from now on.
func (m *Maker) Begin(n int) {
	if s := m.at(n); !s.seen {
		s.seen = true
		m.merge.Set(n, Input{Mark: m.mark(s)})
	}
}

// Enter says that the next records come from split n, which begins if it has not, and is
// active.
func (m *Maker) Enter(n int) {
	m.Begin(n)
	s := m.splits[n]
	s.dry, m.dry = false, false
	m.merge.SetIdle(n, false)
	m.Current, m.At = s, n
}

// End leaves split n out from now on.
func (m *Maker) End(n int) {
	s := m.at(n)
	s.seen, s.dry = false, false
	m.merge.Set(n, Input{Mark: m.merge.Input(n).Mark, Ended: true})
	m.At = -1
}

// Dry says that there are no records to be had from split n at present.
func (m *Maker) Dry(n int) {
	s := m.at(n)
	if !s.dry {
		s.dry, s.since = true, -1
	}
	m.At = -1
}

// Wait says that at time now, on whatever clock, there are no records to be had at all.
func (m *Maker) Wait(now time.Duration) {
	m.At = -1
	if !m.dry {
		m.dry, m.since = true, now
	}
	for _, s := range m.splits {
		if s.seen && (!s.dry || s.since < 0) {
			s.dry, s.since = true, now
		}
	}
}

// Pause says that nobody has asked for records for the last d, since there was no room in the
// outputs: that counts for no split's idleness.
func (m *Maker) Pause(d time.Duration) {
	if m.dry && !m.said {
		m.since += d
	}
	for n, s := range m.splits {
		if s.dry && s.since >= 0 && !m.merge.Input(n).Idle {
			s.since += d
		}
	}
}

// Look brings the watermark up to date at time now, on the clock of Wait.
func (m *Maker) Look(now time.Duration) (mark int64, idle bool) {
	m.crossed = false
	for n, s := range m.splits {
		in := &m.merge.inputs[n]
		if !s.seen || in.Idle {
			continue
		}
		if s.dry && s.since < 0 {
			s.since = now
		}
		in.Mark = m.mark(s)
		if at, ok := m.due(s.dry, s.since); ok && at <= now {
			in.Idle = true
		}
	}
	m.merge.settle()
	m.said = m.idle(now)
	return m.merge.Watermark(), m.said
}

// idle reports whether all splits are idle, or if there are none, nothing has been to be had
// for long enough.
func (m *Maker) idle(now time.Duration) bool {
	if m.merge.Idle() {
		return true
	}
	for _, s := range m.splits {
		if s.seen {
			return false
		}
	}
	at, ok := m.due(m.dry, m.since)
	return ok && at <= now
}

// Due is when Look would find something idle that was not; ok is not set if it would not.
func (m *Maker) Due() (at time.Duration, ok bool) {
	any := false
	for n, s := range m.splits {
		if !s.seen {
			continue
		}
		any = true
		if m.merge.Input(n).Idle {
			continue
		}
		if then, dry := m.due(s.dry, s.since); dry && (!ok || then < at) {
			at, ok = then, true
		}
	}
	if !any && !m.said {
		return m.due(m.dry, m.since)
	}
	return at, ok
}

func (m *Maker) due(dry bool, since time.Duration) (at time.Duration, ok bool) {
	return since + m.opts.IdleAfter, dry && since >= 0 && m.opts.IdleAfter > 0
}

// Behind reports whether Look would find a later watermark than mark.
func (m *Maker) Behind(mark int64) bool {
	least, active := int64(Last), false
	for n, s := range m.splits {
		if s.seen && !m.merge.Input(n).Idle {
			least, active = min(least, m.mark(s)), true
		}
	}
	return active && least > mark
}

// mark is a split's watermark.
func (m *Maker) mark(s *Split) int64 {
	if s.Latest < None+m.opts.Lag+1 {
		return None
	}
	return s.Latest - m.opts.Lag - 1
}

// Cross takes note that the current split has reached its Edge, and sets the next one.
func (m *Maker) Cross() {
	s := m.Current
	m.crossed = len(m.opts.Ends) > 0
	s.Edge = math.MaxInt64
	for _, e := range m.opts.Ends { // who waits for an end has it once a record is as late as that, and the lag
		if next := e.after(s.Latest - m.opts.Lag); next < math.MaxInt64-m.opts.Lag {
			s.Edge = min(s.Edge, next+m.opts.Lag)
		}
	}
}

// Crossed reports whether a split has reached one of Ends since the last Look.
func (m *Maker) Crossed() bool { return m.crossed }

// Save is what Restore needs of split n; ok is not set if nothing is known.
func (m *Maker) Save(n int) (latest int64, idle, ok bool) {
	if n < 0 || n >= len(m.splits) || !m.splits[n].seen {
		return 0, false, false
	}
	return m.splits[n].Latest, m.merge.Input(n).Idle, true
}

// Restore begins split n where it was. The watermark follows with the next Look, when all
// have been restored.
func (m *Maker) Restore(n int, latest int64, idle bool) {
	s := m.at(n)
	s.seen, s.Latest = true, latest
	if idle {
		s.dry, s.since = true, 0
	}
	m.merge.inputs[n] = Input{Mark: m.mark(s), Idle: idle}
}
