package netstack

import "github.com/overtake-stream/overtake/bufferpool"

// builder is the open buffer of a subpartition. The zero builder has none.
type builder struct {
	buf  bufferpool.Buffer
	free []byte // what is left of the buffer's payload area
	at   int    // place in Partition.open, while buf is set
}
