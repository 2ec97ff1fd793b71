package checkpoint

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelAIO is a context of the kernel's asynchronous I/O, for one request at a time.
type kernelAIO uintptr

// ioControl is struct iocb of linux/aio_abi.h. The kernel has read it when io_submit
// returns.
type ioControl struct {
	_      uint64    // comes back with the event
	_      [2]uint32 // key and flags, whose order depends on the machine
	opcode uint16
	_      int16 // priority
	fd     uint32
	_      [2]uint64 // buffer and its size
	_      int64     // offset
	_      uint64
	_      [2]uint32 // flags and what is to be told
}

// ioEvent is struct io_event.
type ioEvent struct {
	_      [2]uint64 // data and request
	result int64     // negative: an error number
	_      int64
}

const opSync = 2 // IOCB_CMD_FSYNC

func newKernelAIO() (a kernelAIO, err error) {
	_, _, e := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&a)), 0)
	return a, errno(e)
}

// close waits for the request, if there is one.
func (a kernelAIO) close() { _, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, uintptr(a), 0, 0) }

// submitSync begins to sync a file, which may be closed from then on.
func (a kernelAIO) submitSync(fd uintptr) error {
	c := ioControl{opcode: opSync, fd: uint32(fd)}
	list := [1]*ioControl{&c}
	n, _, e := unix.Syscall(unix.SYS_IO_SUBMIT, uintptr(a), 1, uintptr(unsafe.Pointer(&list)))
	if e == 0 && n != 1 {
		return fmt.Errorf("io_submit took %d requests", n)
	}
	return errno(e)
}

// done looks whether the request has ended, without waiting, and with what error.
func (a kernelAIO) done() (bool, error) {
	var ev ioEvent
	var now unix.Timespec
	n, _, e := unix.RawSyscall6(unix.SYS_IO_GETEVENTS, uintptr(a), 0, 1, uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&now)), 0)
	if e == unix.EINTR {
		return false, nil
	}
	if e != 0 {
		return true, e
	}
	if n == 0 {
		return false, nil
	}
	return true, errno(syscall.Errno(-ev.result))
}

func errno(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
