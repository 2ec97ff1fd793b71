package record

import "fmt"

// Assembler puts records together that the exchange cut into several buffers.
// It belongs to one channel: pieces of different channels never mix.
type Assembler struct {
	scratch []byte
	max     int
}

// NewAssembler returns an assembler for records of at most max bytes in total.
func NewAssembler(max int) Assembler { return Assembler{max: max} }

// Pending reports whether a record has begun and not ended.
func (a *Assembler) Pending() bool { return len(a.scratch) > 0 }

// Bytes lends what has arrived of the pending record.
func (a *Assembler) Bytes() []byte { return a.scratch }

// Add copies a piece. When last is set, it lends the whole record's bytes, valid
// until the next Add. It lends the piece.
func (a *Assembler) Add(piece []byte, last bool) (whole []byte, err error) {
	if len(a.scratch)+len(piece) > a.max {
		n := len(a.scratch) + len(piece)
		a.scratch = nil
		return nil, fmt.Errorf("%w: a record of more than %d bytes (limit %d)", ErrCorrupt, n, a.max)
	}
	a.scratch = append(a.scratch, piece...)
	if !last {
		return nil, nil
	}
	whole = a.scratch
	a.scratch = a.scratch[:0]
	if cap(whole) > keepScratch {
		a.scratch = nil // one giant record must not pin its memory for ever
	}
	return whole, nil
}

// keepScratch, in bytes: larger scratch is dropped after use.
const keepScratch = 1 << 20
