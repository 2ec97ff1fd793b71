//go:build race

package bufferpool

// note is an atomic store here: the race detector knows none that may be seen late.
func (d *desc) note(s State) { d.state.Store(uint32(s)) }
