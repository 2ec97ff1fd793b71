package protocol

import "fmt"

// Cause is the class of a Reason. Each is an error, for errors.Is.
type Cause uint8

// Causes of aborts, and of refused requests.
const (
	// CauseNone: nothing went wrong.
	CauseNone Cause = iota
	// CauseExpired: not all members acknowledged within the timeout. Member is the
	// first that is missing, Missing how many are.
	CauseExpired
	// CauseDeclined: a member could not take part. Member.
	CauseDeclined
	// CausePublish: the manifest could not be written.
	CausePublish
	// CausePublishExpired: nothing was heard of the manifest within the timeout. It may
	// be visible or become so.
	CausePublishExpired
	// CauseSubsumed: a later checkpoint has completed. It is no failure.
	CauseSubsumed
	// CauseJobFailed: the attempt has failed.
	CauseJobFailed
	// CauseStopped: the job was cancelled.
	CauseStopped
	// CauseStopping: refused, since a stop with a savepoint is under way.
	CauseStopping
	// CauseEnded: refused, since the last checkpoint has been taken or the attempt is over.
	CauseEnded
	// CauseTooMany: refused, since MaxRequests are open.
	CauseTooMany
	// CauseKind: refused, since this kind cannot be asked for.
	CauseKind
)

var causeTexts = [...]string{
	"no failure",
	"not all members acknowledged within the timeout",
	"a member declined",
	"the manifest was not written",
	"the manifest may not have been written: no answer within the timeout",
	"a later checkpoint has completed",
	"the attempt has failed",
	"the job was cancelled",
	"refused: the job is being stopped with a savepoint; ask again if that fails",
	"refused: the job has ended",
	"refused: too many requests are open; wait for one to be answered",
	"refused: ask for a periodic checkpoint, a savepoint or a stop-savepoint",
}

// Error is the cause in words.
func (c Cause) Error() string { return "checkpoint: " + c.words() }

func (c Cause) words() string { return nameOf(causeTexts[:], int(c), "cause") }

// Reason is an error: why a checkpoint was aborted, a request refused, or a job failed.
// The zero Reason is none.
type Reason struct {
	Cause   Cause
	Member  Member // CauseExpired, CauseDeclined
	Missing int    // CauseExpired: members that have not acknowledged
	Detail  string // what the event said
}

// Error is the reason in words.
func (r Reason) Error() string { return "checkpoint: " + r.words() }

func (r Reason) words() string {
	s := r.Cause.words()
	switch r.Cause {
	case CauseExpired:
		s += fmt.Sprintf(" (%d missing, the first is member %d)", r.Missing, r.Member)
	case CauseDeclined:
		s += fmt.Sprintf(" (member %d)", r.Member)
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// Unwrap gives errors.Is the cause.
func (r Reason) Unwrap() error { return r.Cause }

// Err is the reason as an error, nil if it is zero.
func (r Reason) Err() error {
	if r.Cause == CauseNone {
		return nil
	}
	return r
}

// failure says whether it counts against the tolerable failures.
func (c Cause) failure() bool {
	switch c {
	case CauseExpired, CauseDeclined, CausePublish, CausePublishExpired:
		return true
	}
	return false
}
