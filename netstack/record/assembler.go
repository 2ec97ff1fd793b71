package record

import (
	"fmt"

	"github.com/overtake-stream/overtake/bufferpool"
)

// Assembler puts records together that the exchange cut into several buffers.
// It belongs to one channel: pieces of different channels never mix.
type Assembler struct {
	scratch bufferpool.Scratch
	whole   bool // what is in scratch has been lent
	max     int
}

// NewAssembler returns an assembler for records of at most max bytes in total.
func NewAssembler(max int) Assembler { return Assembler{max: max} }

// Pending reports whether a record has begun and not ended.
func (a *Assembler) Pending() bool { return !a.whole && a.scratch.Len() > 0 }

// Bytes lends what has arrived of the pending record.
func (a *Assembler) Bytes() []byte {
	if a.whole {
		return nil
	}
	return a.scratch.Bytes()
}

// Add copies a piece. When last is set, it lends the whole record's bytes, valid
// until Done or the next Add. It lends the piece.
func (a *Assembler) Add(piece []byte, last bool) (whole []byte, err error) {
	a.Done()
	if n := a.scratch.Len() + len(piece); n > a.max {
		a.scratch.Free()
		return nil, fmt.Errorf("%w: a record of more than %d bytes (limit %d)", ErrCorrupt, n, a.max)
	}
	a.scratch.Append(piece)
	if !last {
		return nil, nil
	}
	a.whole = true
	return a.scratch.Bytes(), nil
}

// Done ends the use of what Add lent: other channels may have the memory. It does
// nothing while a record is pending.
func (a *Assembler) Done() {
	if a.whole {
		a.whole = false
		a.scratch.Free()
	}
}
