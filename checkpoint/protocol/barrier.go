package protocol

import "slices"

// Barrier is what a barrier says about its checkpoint, wherever it comes from.
type Barrier struct {
	ID        ID
	Mode      Mode
	Stop      bool  // sources end after it, and nothing is finished: stop with a savepoint
	Savepoint bool  // the state must be written in full
	Base      ID    // newest complete checkpoint at its trigger: what increments build on
	Triggered int64 // when the coordinator triggered it, Unix nanoseconds
	Timeout   int64 // nanoseconds since then after which an Auto barrier overtakes
}

// ActionKind says what the subtask must do.
type ActionKind uint8

// What a Barriers machine asks for. The subtask carries actions out in their order.
const (
	// Start: snapshot the state and send the barrier on: at the head of the output
	// queues if Overtake is set, sharing what it passes with the capture; else behind
	// what was written before.
	Start ActionKind = iota
	// Block: hand out nothing of Channel.
	Block
	// Unblock: hand out what Channel holds again.
	Unblock
	// Capture: from now on share with the capture of ID every buffer of Channel that
	// is handed out, until Captured.
	Capture
	// Captured: the channel's barrier is here. Share those of its queued buffers
	// that came before the barrier, and nothing that comes later.
	Captured
	// Promote: the rounds up to ID no longer wait for barriers to come in their turn.
	// Take those up to ID that are queued, the ones of each channel in order, and treat
	// them as having overtaken; the same for those that are still on their way.
	Promote
	// Done: all barriers are in. Acknowledge once everything is durable.
	Done
	// Cancelled: the checkpoint is no more: release what was captured, and forget
	// what was snapshotted.
	Cancelled
	// Ignored: the event had no effect; Why says why.
	Ignored
)

// Why says why an event was ignored, or a checkpoint cancelled.
type Why uint8

// Reasons.
const (
	WhyNone       Why = iota
	Stale             // it belongs to a checkpoint that has ended here, or before one that has
	Duplicate         // it is here already
	Aborted           // the coordinator aborted it
	Superseded        // a channel has sent a later barrier: this one's will not come
	Unknown           // no such channel, or ID 0
	NotReady          // triggered directly although barriers are to come through channels
	AfterEnd          // a barrier of a channel that has ended
	NothingToSkip     // an announcement of what needs none
)

var whyNames = [...]string{
	"", "stale", "duplicate", "aborted", "superseded by a later barrier", "unknown",
	"its barriers come through channels", "its channel has ended", "no need",
}

// String is the reason in words.
func (w Why) String() string { return nameOf(whyNames[:], int(w), "reason") }

// Action is one thing to do.
type Action struct {
	Kind     ActionKind
	ID       ID
	Channel  int     // Block, Unblock, Capture, Captured
	Overtake bool    // Start
	Barrier  Barrier // Start: what to send on
	Why      Why     // Ignored, Cancelled
}

// Barriers is the barrier machine of one subtask, for checkpoints of all modes and
// any number of them in flight. Events are its methods; each appends what is to be
// done to dst and returns it.
//
// A round is a checkpoint that has begun here. Barriers of one channel come in the
// order of their IDs, so rounds end in that order too; one whose barrier was passed
// by a later one of the same channel will never be complete and is cancelled. A
// channel that has ended counts as one whose barrier is here, for every round.
//
// An aligned round blocks the channels that have delivered, and starts when all have.
// An unaligned one starts at once and captures the others meanwhile. A round may turn
// from the first kind into the second at any moment before it starts: when a barrier
// arrives that has overtaken data, of its own or a later round, or when Expire is called.
// Whatever turns it, its other barriers may wait in order behind data: they are promoted.
//
// The zero value is not ready: see NewBarriers.
type Barriers struct {
	ended   []bool
	last    []ID     // newest barrier by channel
	rounds  []*round // by ID
	floor   ID       // everything up to here has ended, unless it is in rounds
	aborted []ID     // above floor, in order
}

// maxAborted bounds what is remembered of aborted checkpoints whose barriers have
// not come.
const maxAborted = 64

// NewBarriers returns the machine of a subtask with this number of input channels; 0
// is a source. Checkpoints up to last have ended before.
func NewBarriers(channels int, last ID) *Barriers {
	return &Barriers{ended: make([]bool, channels), last: make([]ID, channels), floor: last}
}

// Trigger takes a trigger that the coordinator sent straight to this subtask: a
// source, or one whose channels have all ended.
func (m *Barriers) Trigger(dst []Action, b Barrier) []Action {
	for _, ended := range m.ended {
		if !ended {
			return append(dst, Action{Kind: Ignored, ID: b.ID, Why: NotReady})
		}
	}
	if why := m.refuses(b.ID); why != WhyNone {
		return append(dst, Action{Kind: Ignored, ID: b.ID, Why: why})
	}
	r := m.open(b)
	r.unaligned = b.Mode == Unaligned // there is no input to overtake, but output
	return m.finish(dst, r)
}

// Arrive takes the barrier of a channel. overtook says that it may have passed data
// of its channel.
func (m *Barriers) Arrive(dst []Action, channel int, b Barrier, overtook bool) []Action {
	if why := m.refusesFrom(channel, b.ID); why != WhyNone {
		return append(dst, Action{Kind: Ignored, ID: b.ID, Channel: channel, Why: why})
	}
	m.last[channel] = b.ID
	dst = m.supersede(dst, channel, b.ID)
	if why := m.refuses(b.ID); why != WhyNone {
		return append(dst, Action{Kind: Ignored, ID: b.ID, Channel: channel, Why: why})
	}
	if m.find(b.ID) == nil && m.passed(b.ID) {
		m.forget(b.ID)
		return append(dst, Action{Kind: Cancelled, ID: b.ID, Why: Superseded})
	}
	r, turned := m.open(b), false
	if overtook || b.Mode == Unaligned {
		dst, turned = m.overtake(dst, r)
	}
	dst = m.deliver(dst, r, channel)
	if turned && m.find(r.ID) != nil { // else all are here
		dst = append(dst, Action{Kind: Promote, ID: r.ID})
	}
	return dst
}

// Announce says that a barrier waits in a channel's queue, so that Expire can be
// called in time.
func (m *Barriers) Announce(dst []Action, channel int, b Barrier) []Action {
	why := m.refusesFrom(channel, b.ID)
	if why == WhyNone {
		why = m.refuses(b.ID)
	}
	switch {
	case why != WhyNone:
	case b.Mode != Auto:
		why = NothingToSkip
	case m.find(b.ID) == nil && m.passed(b.ID):
		why = Superseded // Arrive will say so
	}
	if why != WhyNone {
		return append(dst, Action{Kind: Ignored, ID: b.ID, Channel: channel, Why: why})
	}
	m.open(b)
	return dst
}

// End says that a channel has ended: no barrier will come from it, and none is needed.
func (m *Barriers) End(dst []Action, channel int) []Action {
	if uint(channel) >= uint(len(m.ended)) {
		return append(dst, Action{Kind: Ignored, Channel: channel, Why: Unknown})
	}
	if m.ended[channel] {
		return append(dst, Action{Kind: Ignored, Channel: channel, Why: Duplicate})
	}
	m.ended[channel] = true
	for _, r := range slices.Clone(m.rounds) {
		dst = m.deliver(dst, r, channel)
	}
	return dst
}

// Abort says that the coordinator has given up a checkpoint.
func (m *Barriers) Abort(dst []Action, id ID) []Action {
	if r := m.find(id); r != nil {
		return m.cancel(dst, r, Aborted)
	}
	if why := m.refuses(id); why != WhyNone {
		return append(dst, Action{Kind: Ignored, ID: id, Why: why})
	}
	m.forget(id)
	return append(dst, Action{Kind: Ignored, ID: id, Why: Aborted})
}

// Expire turns the Auto rounds whose time is up at now into unaligned ones.
func (m *Barriers) Expire(dst []Action, now int64) []Action {
	var newest *round
	for _, r := range m.rounds {
		if !r.unaligned && r.Mode == Auto && r.Triggered+r.Timeout <= now {
			newest = r
		}
	}
	if newest == nil {
		return dst
	}
	dst, _ = m.overtake(dst, newest)
	return append(dst, Action{Kind: Promote, ID: newest.ID})
}

// Deadline is when Expire is to be called next.
func (m *Barriers) Deadline() (at int64, ok bool) {
	for _, r := range m.rounds {
		if t := r.Triggered + r.Timeout; r.Mode == Auto && !r.unaligned && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Waits reports whether the round with this ID waits for the barrier of a channel.
func (m *Barriers) Waits(id ID, channel int) bool {
	r := m.find(id)
	return r != nil && r.waiting[channel]
}

// Knows reports whether there is a round with this ID.
func (m *Barriers) Knows(id ID) bool { return m.find(id) != nil }

// Open is the number of rounds.
func (m *Barriers) Open() int { return len(m.rounds) }

// Last is the newest checkpoint that has ended here in any way.
func (m *Barriers) Last() ID { return m.floor }
