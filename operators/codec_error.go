package operators

import (
	"errors"
	"fmt"
)

// ErrDecode says that bytes are not what the codec wrote. Every DecodeError is one.
var ErrDecode = errors.New("bytes do not decode")

// DecodeError is damage that a codec of CodecFor found in the bytes it was to decode.
type DecodeError struct {
	Type   string // the Go type that they were decoded as
	Size   int    // how many bytes there were
	Offset int    // where the damage shows
	Reason string
}

// Error says what is wrong, and where.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("%v as %s: at byte %d of %d: %s", ErrDecode, e.Type, e.Offset, e.Size, e.Reason)
}

// Is reports whether target is ErrDecode.
func (e *DecodeError) Is(target error) bool { return target == ErrDecode }
