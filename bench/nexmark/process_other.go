//go:build !linux

package nexmark

import "time"

// processorTime is unknown here.
func processorTime() time.Duration { return 0 }

// resident is unknown here.
func resident() int64 { return 0 }
