package ebpf

import (
	"slices"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// Matcher puts the events of messages together. It is pure and has one owner.
//
// Events arrive nearly in the order of time: those of different processors may change
// places by up to slack. A message is put together once events later than that have
// come.
type Matcher struct {
	emit   func(*Message)
	begin  int64
	dirs   map[uint32]*direction
	waits  waits
	queue  []pair // both ends seen
	counts MatchCounts
}

// MatchCounts says what became of the messages that a Matcher was told of.
type MatchCounts struct {
	Matched    uint64 `json:"matched"`     // put together
	Kernel     uint64 `json:"with_kernel"` // of those, with the kernel's part
	Unmatched  uint64 `json:"unmatched"`   // one end only, though a later message of the channel has both
	InFlight   uint64 `json:"in_flight"`   // on the way in the end
	Early      uint64 `json:"early"`       // on the way in the beginning: before both ends were looked at
	Foreign    uint64 `json:"foreign"`     // on connections that are not followed
	Disordered uint64 `json:"disordered"`  // edges that were earlier than the one before: left out
	Forgotten  uint64 `json:"forgotten"`   // kernel events that were dropped, as too many were waiting
}

// direction is one direction of a connection.
type direction struct {
	base     uint32
	known    bool // base is
	kernel   [Received + 1][]Event
	channels map[uint64]*channel
}

// channel is the messages of one channel that wait for their other end.
type channel struct {
	open  []Event // WriteBegin, by sequence
	first uint64  // sequence of the first seen
}

type pair struct{ write, done Event }

const (
	slack     = int64(2 * time.Millisecond)
	maxKernel = 1 << 16 // events of a kind that wait in a direction
)

// NewMatcher returns a matcher that lends emit each message that it has put together.
func NewMatcher(emit func(*Message)) *Matcher {
	return &Matcher{emit: emit, dirs: map[uint32]*direction{}, waits: waits{}}
}

// Begin says from when on both ends of all connections are looked at. What was written before
// that and is seen at one end only is early, not unmatched.
func (m *Matcher) Begin(at int64) { m.begin = at }

// Add takes an event.
func (m *Matcher) Add(e Event) {
	m.resolve(e.Time - slack)
	if (e.Kind == Waited || e.Kind == Run) && e.Enter != 0 {
		m.waited(&e)
	}
	if e.Kind == Waited {
		return
	}
	if e.Direction == NoDirection {
		m.counts.Foreign++
		return
	}
	d := m.dirs[e.Direction]
	if d == nil {
		d = &direction{channels: map[uint64]*channel{}}
		m.dirs[e.Direction] = d
	}
	switch e.Kind {
	case WriteBegin:
		c := d.channel(e.Message.Channel, e.Message.Sequence)
		c.open = append(c.open, e)
	case Processed:
		m.processed(d, e)
	case Sent:
		d.base, d.known = e.Base, true
		m.keep(d, e)
	case Ready, Waking, Run, Received:
		m.keep(d, e)
	}
}

// channel returns the channel, which begins with sequence if it is new.
func (d *direction) channel(id, sequence uint64) *channel {
	c := d.channels[id]
	if c == nil {
		c = &channel{first: sequence}
		d.channels[id] = c
	}
	return c
}

func (m *Matcher) keep(d *direction, e Event) {
	events := append(d.kernel[e.Kind], e)
	if len(events) > maxKernel {
		events = slices.Delete(events, 0, maxKernel/2)
		m.counts.Forgotten += maxKernel / 2
	}
	// nearly in order: the last few may have to change places
	for i := len(events) - 1; i > 0 && events[i].Time < events[i-1].Time; i-- {
		events[i], events[i-1] = events[i-1], events[i]
	}
	d.kernel[e.Kind] = events
}

// processed finds the other end. A channel keeps its order: those before it that are
// still open will not come.
func (m *Matcher) processed(d *direction, e Event) {
	c := d.channels[e.Message.Channel]
	if c == nil || e.Message.Sequence < c.first {
		m.counts.Early++
		return
	}
	i := 0
	for ; i < len(c.open) && c.open[i].Message.Sequence < e.Message.Sequence; i++ {
		if c.open[i].Time < m.begin {
			m.counts.Early++
		} else {
			m.counts.Unmatched++
		}
	}
	if i < len(c.open) && c.open[i].Message.Sequence == e.Message.Sequence {
		m.queue = append(m.queue, pair{c.open[i], e})
		i++
	} else {
		m.counts.Unmatched++
	}
	c.open = slices.Delete(c.open, 0, i)
}

// resolve puts together what was processed before a time.
func (m *Matcher) resolve(before int64) {
	n := 0
	for n < len(m.queue) && m.queue[n].done.Time <= before {
		p := &m.queue[n]
		m.put(m.dirs[p.done.Direction], p)
		n++
	}
	if n == 0 {
		return
	}
	m.queue = slices.Delete(m.queue, 0, n)
	for _, d := range m.dirs {
		d.prune(m.oldest(d))
	}
	m.pruneWaits(before)
}

// waited keeps a thread's wait for a processor.
func (m *Matcher) waited(e *Event) {
	if m.waits.full(e.TID) {
		m.pruneWaits(e.Time - slack)
	}
	m.counts.Forgotten += m.waits.add(e.TID, pause{e.Enter, e.Time, e.Waker})
}

// pruneWaits forgets what ended before a time, and before all messages that are still needed.
func (m *Matcher) pruneWaits(before int64) {
	for _, d := range m.dirs {
		before = min(before, m.oldest(d))
	}
	m.waits.prune(before)
}

// oldest is when the earliest message that is still needed in a direction was about to be
// written.
func (m *Matcher) oldest(d *direction) int64 {
	oldest := int64(1<<63 - 1)
	for i := range m.queue {
		if m.dirs[m.queue[i].done.Direction] == d {
			oldest = min(oldest, taken(&m.queue[i].write))
		}
	}
	for _, c := range d.channels {
		if len(c.open) > 0 {
			oldest = min(oldest, taken(&c.open[0]))
		}
	}
	return oldest
}

// taken is when the sender's thread took up a message that it has begun to write.
func taken(write *Event) int64 {
	if at := write.Message.Stamps[probe.Taken]; at != 0 && at < write.Time {
		return at
	}
	return write.Time
}

// prune forgets events before a time, except in the last moment: a write's event may
// still be on its way.
func (d *direction) prune(oldest int64) {
	for k, events := range d.kernel {
		if len(events) < 64 {
			continue
		}
		limit := min(oldest, events[len(events)-1].Time-slack)
		n, _ := slices.BinarySearchFunc(events, limit, func(e Event, t int64) int { return int(min(1, max(-1, e.Time-t))) })
		d.kernel[k] = slices.Delete(events, 0, n)
	}
}

// Close puts together what is left, and returns the account.
func (m *Matcher) Close() MatchCounts {
	m.resolve(1<<63 - 1)
	for _, d := range m.dirs {
		for _, c := range d.channels {
			m.counts.InFlight += uint64(len(c.open))
			c.open = nil
		}
	}
	return m.counts
}

// first returns the first event of a kind from a time on that has reached seq.
func (d *direction) first(k Kind, from int64, seq uint32) *Event {
	events := d.since(k, from)
	for i := range events {
		if reached(events[i].Seq, seq) {
			return &events[i]
		}
	}
	return nil
}

// since returns the events of a kind from a time on.
func (d *direction) since(k Kind, from int64) []Event {
	events := d.kernel[k]
	i, _ := slices.BinarySearchFunc(events, from, func(e Event, t int64) int { return int(min(1, max(-1, e.Time-t))) })
	return events[i:]
}
