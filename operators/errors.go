package operators

import (
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/netstack/record"
)

var (
	// ErrRecordTooLarge: an encoded record exceeds what a record can hold.
	ErrRecordTooLarge = errors.New("record is too large")
	// ErrPartitioner: a custom partitioner chose a receiver that does not exist.
	ErrPartitioner = errors.New("partitioner chose no existing receiver")
	// ErrLayout matches every *LayoutError with errors.Is.
	ErrLayout = errors.New("state in the checkpoint has another layout")
	// ErrPanic: user code panicked; the message has its value and stack.
	ErrPanic = errors.New("user code panicked")
)

// Error is an error of an operator. The subtask fills in where it happened.
type Error struct {
	Operator string // its name
	Subtask  int
	Err      error
}

// Error names the operator and the subtask.
func (e *Error) Error() string {
	return fmt.Sprintf("operator %q subtask %d: %v", e.Operator, e.Subtask, e.Err)
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

func errRecordTooLarge(n int) error {
	return fmt.Errorf("%w: %d bytes encoded, at most %d", ErrRecordTooLarge, n, record.MaxPayload)
}

func errPartitioner(sub, n int) error {
	return fmt.Errorf("%w: receiver %d of %d", ErrPartitioner, sub, n)
}

// LayoutError says that the type of a state changed since the checkpoint was
// written. Restore an older program, give the operator a new UID, or migrate.
type LayoutError struct {
	State      string
	Saved, Now string
	Err        error // more of what differs; may be nil
}

// Error shows both layouts.
func (e *LayoutError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%v: %v", ErrLayout, e.Err)
	}
	return fmt.Sprintf("%v: %s was %s, is now %s: go back to the old type, migrate the state, or give the operator a new UID", ErrLayout, e.State, e.Saved, e.Now)
}

// Unwrap makes errors.Is match ErrLayout.
func (e *LayoutError) Unwrap() []error { return []error{ErrLayout, e.Err} }
