//go:build !linux

package bufferpool

// advise does nothing on this system.
func advise([]byte, bool) error { return nil }
