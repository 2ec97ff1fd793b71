package protocol

// EventType says what has happened.
type EventType uint8

// Events that a Coordinator takes, with the fields that count. Now counts in all.
const (
	// Tick: time has passed.
	Tick EventType = iota
	// Request: a user asks for a checkpoint. Kind (Periodic: by hand), Token.
	Request
	// Ack: all that a member has to say in a checkpoint is durable. ID, Member, Payload.
	Ack
	// Decline: a member cannot take part in a checkpoint. ID, Member, Detail.
	Decline
	// Published: the manifest is durable and visible. ID.
	Published
	// PublishFailed: the manifest is not visible and never will be. ID, Detail.
	PublishFailed
	// Finished: all input of a member has ended and it has sent everything. It stays
	// alive until EndJob. Member.
	Finished
	// Failed: the attempt has failed: nothing in flight can complete. Detail.
	Failed
	// Stop: the job is cancelled. Detail.
	Stop
)

var eventNames = [...]string{
	"tick", "request", "ack", "decline", "published", "publish-failed", "finished", "failed", "stop",
}

// String is the event's name.
func (t EventType) String() string { return nameOf(eventNames[:], int(t), "event") }

// Event is something that has happened. Which fields count depends on Type.
type Event struct {
	Type    EventType
	Now     int64 // nanoseconds; one that goes back counts as the last
	ID      ID
	Member  Member
	Kind    Kind
	Token   Token
	Payload any    // opaque: handles of the member's state
	Detail  string // why, in words
}
