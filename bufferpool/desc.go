package bufferpool

import "sync/atomic"

// desc describes one segment. It holds no pointers, and fills a cache line, for
// neighbours belong to different goroutines.
type desc struct {
	refs   atomic.Int32  // 1 while idle or free, so that Get need not write it
	state  atomic.Uint32 // State; see note
	pool   atomic.Uint32 // id of the pool that accounts for it
	length uint32        // of the payload, written by the buffer's owner
	gen    uint32        // counts releases, in builds with invariants
	fits   uint32        // bytes of the segment that its owner may have used; 0: all. See Fit
	_      [40]byte
}

// stack holds segments, the most recently used last. It is an array, not a list
// through the descriptors: those of idle segments are in other cores' caches.
type stack []uint32

func (s *stack) push(i uint32) { *s = append(*s, i) }

// pop takes the segment that was pushed last. The stack is not empty.
func (s *stack) pop() uint32 {
	last := len(*s) - 1
	i := (*s)[last]
	*s = (*s)[:last]
	return i
}
