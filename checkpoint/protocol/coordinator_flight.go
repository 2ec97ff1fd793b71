package protocol

// A flight is a checkpoint between its trigger and its end.
type flight struct {
	barrier  Barrier
	kind     Kind
	deadline int64
	acked    memberSet
	direct   memberSet // those that were sent a Trigger
	payloads []any     // by member
	firstAck int64
	lastAck  int64
	slowest  Member
	tokens   []Token
}

func (f *flight) id() ID { return f.barrier.ID }

// ready says that only publishing is left.
func (f *flight) ready() bool { return f.acked.full() }

// take notes an acknowledgement, and reports whether it is the member's first.
func (f *flight) take(m Member, payload any, now int64) bool {
	if !f.acked.add(m) {
		return false
	}
	f.payloads[m] = payload
	if f.acked.count == 1 {
		f.firstAck = now
	}
	f.lastAck, f.slowest = now, m
	return true
}

// expired is the reason when the deadline has passed.
func (f *flight) expired() Reason {
	if f.ready() {
		return Reason{Cause: CausePublishExpired}
	}
	return Reason{Cause: CauseExpired, Member: f.acked.missing(), Missing: f.acked.size - f.acked.count}
}

// record is the flight's entry in the history.
func (f *flight) record(now int64, reason Reason) Record {
	return Record{
		ID: f.id(), Kind: f.kind, Mode: f.barrier.Mode, Triggered: f.barrier.Triggered, Ended: now, Reason: reason,
		Acks: f.acked.count, Members: f.acked.size, FirstAck: f.firstAck, LastAck: f.lastAck, Slowest: f.slowest,
	}
}

// Progress is a checkpoint in flight, for people to look at.
type Progress struct {
	ID         ID
	Kind       Kind
	Triggered  int64 // nanoseconds
	Acks       int   // members that have acknowledged
	Members    int   // of so many
	Missing    Member
	Publishing bool
}

// InFlight appends the checkpoints in flight to dst, by ID. Missing is the first
// member that has not acknowledged, -1 if all have.
func (c *Coordinator) InFlight(dst []Progress) []Progress {
	for _, f := range c.flights {
		dst = append(dst, Progress{
			ID: f.id(), Kind: f.kind, Triggered: f.barrier.Triggered, Acks: f.acked.count, Members: c.members,
			Missing: f.acked.missing(), Publishing: f == c.publishing,
		})
	}
	return dst
}
