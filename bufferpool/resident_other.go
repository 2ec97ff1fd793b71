//go:build !linux

package bufferpool

// Resident is how many bytes of the arena are in memory; ok is false where the system does not
// say, as here.
func (a *Arena) Resident() (bytes int64, ok bool) { return 0, false }
