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
	// ErrStateName: a Processor asked twice for state of the same name.
	ErrStateName = errors.New("state name is taken")
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

func errStateName(name string) error { return fmt.Errorf("%w: %q", ErrStateName, name) }
