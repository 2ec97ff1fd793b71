package netstack

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// iovecs is the argument of readv and writev, reused from call to call:
// unix.Readv and unix.Writev build one each time.
type iovecs struct {
	v     []unix.Iovec
	bytes int
}

// set points the vector to the given memory, which must stay where it is until
// the call. Empty slices are left out.
func (x *iovecs) set(bufs [][]byte) {
	x.v, x.bytes = x.v[:0], 0
	for _, b := range bufs {
		if len(b) == 0 {
			continue
		}
		v := unix.Iovec{Base: unsafe.SliceData(b)}
		v.SetLen(len(b))
		x.v = append(x.v, v)
		x.bytes += len(b)
	}
}

// call makes the system call on a non-blocking descriptor. Such a call does not
// wait, so without "block" the scheduler is not told: else it may give this
// goroutine's P away in the middle of a long copy, and the goroutine then queues
// for another one.
func (x *iovecs) call(trap uintptr, fd int, block bool) (int, unix.Errno) {
	var n uintptr
	var errno unix.Errno
	if block {
		n, _, errno = unix.Syscall(trap, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(x.v))), uintptr(len(x.v)))
	} else {
		n, _, errno = unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(x.v))), uintptr(len(x.v)))
	}
	return int(n), errno
}

// pollNow looks for events without waiting.
func pollNow(epfd int, events []unix.EpollEvent) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	return int(n), errno
}
