//go:build !linux

package task

// yieldProcessor does nothing here.
func yieldProcessor() {}
