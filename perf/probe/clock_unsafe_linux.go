package probe

import (
	"math"
	"syscall"
	"time"
	"unsafe"
)

// offset is the kernel's time at start. The runtime reads the same clock but keeps
// its zero to itself, so it is found by comparison.
var offset = compare(200)

// compare reads the kernel's clock between two readings of the runtime's, some times. All of the
// intervals in which the difference must be have one in common; it is its middle.
func compare(times int) int64 {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	for range times {
		before := int64(time.Since(start))
		now := kernelTime()
		after := int64(time.Since(start))
		low, high = max(low, now-after), min(high, now-before)
	}
	return low + (high-low)/2
}

// clockMonotonic is CLOCK_MONOTONIC.
const clockMonotonic = 1

func kernelTime() int64 {
	var ts syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0) // cannot fail
	return ts.Nano()
}
