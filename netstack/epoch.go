package netstack

import "errors"

// NewerEpoch returns the epoch of the peer that has refused this worker, if the reason
// was that its attempt is a newer one.
func NewerEpoch(err error, own uint64) (epoch uint64, ok bool) {
	var e *HandshakeError
	if errors.As(err, &e) && errors.Is(e.Reason, ErrEpoch) && e.epoch > own {
		return e.epoch, true
	}
	return 0, false
}
