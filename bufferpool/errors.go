package bufferpool

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by an arena that has been closed.
var ErrClosed = errors.New("bufferpool: arena is closed")

// BudgetError says that the arena is too small for what it was asked to reserve.
type BudgetError struct {
	Pool      string
	Needed    int   // segments that all pools together would reserve
	Available int   // segments of the arena
	Segment   int   // bytes of a segment
	Budget    int64 // bytes that would do
}

// Error says how much memory would do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("bufferpool: %q needs more memory: all pools together reserve %d buffers of %d bytes, and there are %d; raise the network memory to at least %d bytes, or lower the parallelism or the buffer size",
		e.Pool, e.Needed, e.Segment, e.Available, e.Budget)
}

// LeakError says that buffers are still in use that should not be.
type LeakError struct{ Ledger Ledger }

// Error lists who holds what.
func (e *LeakError) Error() string {
	return fmt.Sprintf("bufferpool: %d buffers are still in use:\n%s", e.Ledger.InUse, e.Ledger)
}
