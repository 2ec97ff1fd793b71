//go:build !linux

package netstack

var defaultTuning = tuning{set: true}

// newLoop: there is no epoll here.
func newLoop(*Stack) driver { return nil }
