package ckpt

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
