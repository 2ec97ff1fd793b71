package peers

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process, and those which it started and which
// have ended, have used.
func cpuTime() (t time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return t
}
