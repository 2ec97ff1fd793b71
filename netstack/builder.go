package netstack

import (
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
)

// builder is the open buffer of a subpartition. The zero builder has none.
type builder struct {
	buf  bufferpool.Buffer
	mem  []byte // what may be filled of the buffer's payload area
	used int    // bytes of mem that are written
	at   int    // place in Partition.open, while buf is set

	records int           // begun in the buffer, those of the exchange itself left out
	since   time.Duration // when the first was written
	opened  int64         // when the buffer was, if a profiler looks at it, ns; else 0
}

// Builders is the number of open buffers that Space distinguishes: one per
// subpartition, or a single one for a broadcast.
func (p *Partition) Builders() int { return len(p.builders) }
