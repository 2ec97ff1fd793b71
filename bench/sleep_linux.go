package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// PreciseSleep sleeps in the kernel, to some 50 µs. time.Sleep rounds up to the
// millisecond that the netpoller waits for. It occupies a thread meanwhile.
func PreciseSleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // interrupted: who needs the rest asks again
}
