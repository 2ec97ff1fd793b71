package credit

import (
	"fmt"

	"github.com/overtake-stream/overtake/internal/invariant"
)

// Sender is the sending end of a channel. The zero Sender has no credit.
type Sender struct {
	sent  uint64 // data buffers sent since the start of the channel
	limit uint64 // highest limit announced by the receiver
	told  uint32 // backlog as last reported, so that a report is never repeated
}

// Available is the number of data buffers that may be sent now.
func (s *Sender) Available() int { return int(s.limit - s.sent) }

// Granted is the number of data buffers that the receiver has announced room for since the start
// of the channel.
func (s *Sender) Granted() uint64 { return s.limit }

// Limit takes an announcement and reports whether it added credit. An old or
// repeated one is ignored; ErrLimit means that the peer must not be trusted.
func (s *Sender) Limit(limit uint64) (grew bool, err error) {
	if limit <= s.limit {
		return false, nil
	}
	if limit-s.sent > MaxWindow {
		return false, fmt.Errorf("%w: limit %d with %d sent", ErrLimit, limit, s.sent)
	}
	s.limit = limit
	return true, nil
}

// Send spends one credit on a data buffer that has backlog more behind it, and
// returns the buffer's sequence number. It must not be called without credit.
func (s *Sender) Send(backlog int) (sequence uint64) {
	if invariant.Enabled {
		invariant.Check(s.sent < s.limit, "credit: data without credit: %v", s)
	}
	sequence = s.sent
	s.sent++
	s.told = uint32(backlog)
	return sequence
}

// Report says whether a backlog has to be told in a message of its own, and
// notes that it was: only data carries it otherwise, and a sender without credit
// sends none. So it is due when credit is out and the receiver knows of none.
func (s *Sender) Report(backlog int) bool {
	if backlog == 0 || s.sent < s.limit || s.told != 0 {
		return false
	}
	s.told = uint32(backlog)
	return true
}

// String is the state on one line.
func (s *Sender) String() string {
	return fmt.Sprintf("sent=%d/%d told=%d", s.sent, s.limit, s.told)
}
