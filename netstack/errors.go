package netstack

import (
	"errors"
	"fmt"
)

// What a peer can do wrong on an established connection. They come wrapped in a
// *PeerError; ErrNoCredit, ErrSequence and ErrLimit of package credit join them.
var (
	ErrFrame    = errors.New("netstack: not a frame")
	ErrOversize = errors.New("netstack: frame is too long")
	ErrStale    = errors.New("netstack: frame of another attempt")
	ErrChannel  = errors.New("netstack: frame for an unknown channel")
	ErrChecksum = errors.New("netstack: payload was damaged on the way")
	ErrEvents   = errors.New("netstack: too many events wait at the receiver")
	ErrLeft     = errors.New("netstack: peer closed its end while data was queued for it")
	ErrLost     = errors.New("netstack: peer vanished without a goodbye")
	ErrTimeout  = errors.New("netstack: peer did not finish in time")
)

// What can go wrong at this end.
var (
	ErrControlFull = errors.New("netstack: too many control messages wait for the peer")
	ErrClosed      = errors.New("netstack: stack is closed")
	ErrPeerIndex   = errors.New("netstack: no such peer")
	ErrBound       = errors.New("netstack: channel cannot be bound")
	ErrPlaintext   = errors.New("netstack: plain text is refused off loopback: set TLS, or InsecurePlaintext if the network is trusted")
)

// PeerError says that the connection to a peer broke, and with it the attempt.
type PeerError struct {
	Peer int    // worker index
	Addr string // where it was
	Edge string // "from → to, channel n" when one channel is to blame, else ""
	Err  error
}

// Error names the peer and the edge.
func (e *PeerError) Error() string {
	edge := ""
	if e.Edge != "" {
		edge = " (" + e.Edge + ")"
	}
	return fmt.Sprintf("netstack: worker %d at %s%s: %v", e.Peer, e.Addr, edge, e.Err)
}

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Err }

// edgeError adds the edge to an error on its way to PeerError.
type edgeError struct {
	edge string
	err  error
}

func (e *edgeError) Error() string { return e.edge + ": " + e.err.Error() }
func (e *edgeError) Unwrap() error { return e.err }
