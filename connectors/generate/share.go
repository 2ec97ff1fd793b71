package generate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// share is every step-th record from number next on: what one subtask produces.
type share struct {
	next, step uint64
	start      int64 // when record 0 is due, in Unix nanoseconds; 0 without a rate
	split      int   // its number
}

// due is when the next record is due, in Unix nanoseconds.
func (s *share) due(gap float64) int64 {
	return s.start + int64(min(float64(s.next)*gap, math.MaxInt64/4)) // centuries from now
}

// encode is the position of a share in a checkpoint.
func (s *share) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 24), s.next)
	b = binary.LittleEndian.AppendUint64(b, s.step)
	return binary.LittleEndian.AppendUint64(b, uint64(s.start))
}

var errPosition = errors.New("generate: damaged position")

func decodeShare(b []byte) (share, error) {
	if len(b) != 24 {
		return share{}, fmt.Errorf("%w: %d bytes, want 24", errPosition, len(b))
	}
	s := share{
		next:  binary.LittleEndian.Uint64(b),
		step:  binary.LittleEndian.Uint64(b[8:]),
		start: int64(binary.LittleEndian.Uint64(b[16:])),
	}
	if s.step == 0 || s.step > math.MaxInt32 || s.next > math.MaxUint64/2+s.step {
		return share{}, fmt.Errorf("%w: every %d-th record from %d on", errPosition, s.step, s.next)
	}
	return s, nil
}
