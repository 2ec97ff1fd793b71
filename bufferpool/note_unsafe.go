//go:build !race

package bufferpool

import "unsafe"

// note sets the state by who has the segment: the owner of its pool, or a holder of the
// buffer, who says anything but Idle. It is a plain store: an atomic one waits until all
// earlier stores have reached the cache, which took most of the time of a Get and a
// Recycle. A Ledger that is read meanwhile may see it late, as it may see anything; who
// closes the arena has waited for the owners, so nothing is missed then.
func (d *desc) note(s State) { *(*State)(unsafe.Pointer(&d.state)) = s }
