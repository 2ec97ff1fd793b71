package credit

import "errors"

var (
	// ErrNoCredit: the peer sent data beyond the announced limit.
	ErrNoCredit = errors.New("credit: data beyond the announced limit")
	// ErrSequence: a data frame is missing, repeated or out of order.
	ErrSequence = errors.New("credit: data out of sequence")
	// ErrLimit: the peer announced a limit that no honest receiver can reach.
	ErrLimit = errors.New("credit: announced limit is out of range")
)

// MaxWindow bounds the credit that a channel may have outstanding, in buffers.
// A larger announcement is taken for damage or malice.
const MaxWindow = 1 << 16
