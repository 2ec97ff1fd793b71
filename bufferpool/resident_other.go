//go:build !linux

package bufferpool

// resident is not known on this system.
func resident([]byte) (bytes int64, ok bool) { return 0, false }
