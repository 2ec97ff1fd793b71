package nexmark

import (
	"errors"
	"fmt"
	"math"
)

// block is how many events with consecutive numbers a split has, before the next
// split's: all splits are on one timeline, close together.
const block = 2 * slots

// share is a split: every step-th block, from event number next on.
type share struct{ next, step uint64 }

func newShare(subtask, parallelism int) share {
	return share{next: uint64(subtask) * block, step: uint64(parallelism)}
}

// advance goes on to the next event.
func (s *share) advance() {
	s.next++
	if s.next%block == 0 {
		s.next += block * (s.step - 1)
	}
}

// encode is the position of a share in a checkpoint.
func (s *share) encode() []byte {
	return le.AppendUint64(le.AppendUint64(make([]byte, 0, 16), s.next), s.step)
}

// ErrPosition says that a position is damaged.
var ErrPosition = errors.New("nexmark: damaged position")

func decodeShare(b []byte) (share, error) {
	if len(b) != 16 {
		return share{}, fmt.Errorf("%w: %d bytes, want 16", ErrPosition, len(b))
	}
	s := share{next: le.Uint64(b), step: le.Uint64(b[8:])}
	if s.step == 0 || s.step > math.MaxInt32 || s.next > 2*maxEvents+s.step*block {
		return share{}, fmt.Errorf("%w: every %d-th block from event %d on", ErrPosition, s.step, s.next)
	}
	return s, nil
}
