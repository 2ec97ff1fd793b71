package ebpf

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketCookie is the kernel's name of a connection's socket.
func socketCookie(nc net.Conn) (cookie uint64, err error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return 0, fmt.Errorf("%T has no socket", nc)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var sockErr error
	err = raw.Control(func(fd uintptr) {
		cookie, sockErr = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_COOKIE)
	})
	if err != nil {
		return 0, err
	}
	return cookie, sockErr
}
