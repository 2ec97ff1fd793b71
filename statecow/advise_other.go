//go:build !linux

package statecow

// adviseHuge does nothing on this system.
func adviseHuge([]byte) {}
