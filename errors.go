package overtake

import (
	"errors"
	"fmt"

	"github.com/overtake-stream/overtake/operators"
)

var (
	// ErrUID: a stateful operator has no UID, or two operators have the same.
	ErrUID = errors.New("UID is missing or not unique")
	// ErrPeer: another worker has failed or is gone.
	ErrPeer = errors.New("another worker failed")
	// ErrPanic: user code panicked; the message has its value and stack.
	ErrPanic = operators.ErrPanic
	// ErrPartitioner: a custom partitioner chose a receiver that does not exist.
	ErrPartitioner = operators.ErrPartitioner
	// ErrLayout: state in the checkpoint has another layout than the program has now.
	ErrLayout = operators.ErrLayout
)

// OperatorError says which operator's subtask failed, and why.
type OperatorError = operators.Error

// BuildError says what is wrong with an operator of a job that cannot run.
type BuildError struct {
	Job, Operator string
	Err           error
}

// Error names the job and the operator.
func (e *BuildError) Error() string {
	return fmt.Sprintf("job %q, operator %q: %v", e.Job, e.Operator, e.Err)
}

// Unwrap returns what is wrong.
func (e *BuildError) Unwrap() error { return e.Err }

func errCodecType(codec, zero any) error {
	return fmt.Errorf("WithCodec was given a %T, want a Codec[%T]", codec, zero)
}
