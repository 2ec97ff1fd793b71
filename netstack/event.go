package netstack

// EventKind tells events apart. Kinds below FirstUserEvent are the exchange's.
type EventKind uint8

const (
	// EndOfPartition: no more data or events follow on this channel.
	EndOfPartition EventKind = 1
	// FirstUserEvent is the first kind that is free for users of the package.
	FirstUserEvent EventKind = 16
)

// MaxEventPayload bounds an event's payload, in bytes.
const MaxEventPayload = 4 << 10

// Event is a message that needs no credit. It is immutable once sent: several
// channels share it. An ordered event is delivered behind the data queued before
// it, a Priority one ahead of all queued data but behind earlier priority events (an
// event that Passing.Stop holds back is not in the way of those that Emit sends).
type Event struct {
	Kind     EventKind
	Priority bool
	Payload  []byte // at most MaxEventPayload bytes
}

var endOfPartition = &Event{Kind: EndOfPartition}
