package nexmark

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory that this process has, in bytes.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	var all, here int64
	if err == nil {
		_, err = fmt.Sscan(string(b), &all, &here)
	}
	if err != nil {
		return 0
	}
	return here * int64(os.Getpagesize())
}
