package protocol

// CommandType says what the coordinator's driver must do.
type CommandType uint8

// Commands of a Coordinator, with the fields that count. Checkpoint, if the command
// is about one, is told by ID and Kind.
const (
	// Trigger: send Barrier to each of Members. They are sources, and members whose
	// input has ended, which no barrier reaches and which answer at once.
	Trigger CommandType = iota
	// Publish: make the checkpoint visible, atomically. Payloads by member. The answer
	// is Published or PublishFailed. Where neither can be said for sure, say nothing.
	// It is the last command of its Step.
	Publish
	// NotifyComplete: tell all members. See Kind.Commits.
	NotifyComplete
	// NotifyAborted: tell all members. Reason.
	NotifyAborted
	// Drop: forget a complete checkpoint that retention has no place for. ID alone.
	Drop
	// Discard: delete what was written for an aborted checkpoint, its manifest first if
	// there is one. Payloads: those acknowledged by member, nil where none was; or,
	// for one that came too late, Member and Payload.
	Discard
	// Answer: tell the one who asked. Token. Reason is zero if it succeeded: then ID
	// is the checkpoint, which may be a later one that has subsumed the one asked for.
	Answer
	// FailJob: more failures in a row than tolerated. ID and Reason of the last. The
	// coordinator does nothing more.
	FailJob
	// EndJob: the last checkpoint is complete and members may close. ID is that
	// checkpoint. The coordinator does nothing more.
	EndJob
	// Wake: send a Tick at the time At; it replaces the Wake before.
	Wake
	// Note: an event had no effect. Event, ID, Member, Why.
	Note
)

var commandNames = [...]string{
	"trigger", "publish", "notify-complete", "notify-aborted", "drop", "discard", "answer",
	"fail-job", "end-job", "wake", "note",
}

// String is the command's name.
func (t CommandType) String() string { return nameOf(commandNames[:], int(t), "command") }

// Command is one thing to do. Which fields count depends on Type.
type Command struct {
	Type     CommandType
	ID       ID
	Kind     Kind
	Members  []Member
	Barrier  Barrier
	Payloads []any
	Member   Member
	Payload  any
	Token    Token
	Reason   Reason
	At       int64
	Event    EventType
	Why      NoteWhy
}

// NoteWhy says why an event had no effect.
type NoteWhy uint8

// Reasons for notes.
const (
	// NoteStale: its checkpoint is of an earlier attempt, or ended so long ago that the
	// history has forgotten it.
	NoteStale NoteWhy = iota + 1
	// NoteDuplicate: it has been said before.
	NoteDuplicate
	// NoteLate: its checkpoint was aborted, or the coordinator has ended.
	NoteLate
	// NoteEarly: the outcome of a Publish that was not commanded.
	NoteEarly
	// NoteUnknown: no such checkpoint, member or event.
	NoteUnknown
	// NoteRefused: a request without a token, whose answer would say why.
	NoteRefused
)

var noteNames = [...]string{"", "stale", "duplicate", "late", "early", "unknown", "refused"}

// String is the reason in a word.
func (w NoteWhy) String() string { return nameOf(noteNames[:], int(w), "note") }
