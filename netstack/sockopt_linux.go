package netstack

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// notSentLowat bounds what waits unsent in the kernel, in bytes: throughput is
	// the same, and a saturated connection delays a frame 6 times less.
	notSentLowat = 128 << 10
	unixBuffer   = 1 << 20
	userTimeout  = 60_000 // ms that sent data may stay unacknowledged: then the peer is gone
	keepIdle     = 10     // s until an idle connection is probed
	keepInterval = 5      // s between probes
	keepCount    = 3
)

// tune sets the options of a connection. A kernel that lacks one still works, so
// errors are not reported.
func tune(nc net.Conn) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	_, tcp := nc.(*net.TCPConn)
	_ = raw.Control(func(fd uintptr) {
		if tcp {
			tuneTCP(int(fd))
		} else {
			set(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, unixBuffer)
			set(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, unixBuffer)
		}
	})
}

// unpaced sets the congestion control of a socket that is going to be connected: the
// system's default may be one for the internet. bbr moved 0.63x of cubic over loopback. It
// must not even be there when the connection is made, for it turns on pacing by timers,
// and nothing turns that off again.
func unpaced(_, _ string, raw syscall.RawConn) error {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic") // fails with Unix sockets
	})
	return nil
}

// unpacedListener does it for connections that are accepted: they inherit it.
func unpacedListener(l net.Listener) {
	sc, ok := l.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := sc.SyscallConn(); err == nil {
		_ = unpaced("", "", raw)
	}
}

func tuneTCP(fd int) {
	set(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	set(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, notSentLowat)
	set(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, userTimeout)
	set(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	set(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, keepIdle)
	set(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, keepInterval)
	set(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, keepCount)
}

func set(fd, level, opt, value int) { _ = unix.SetsockoptInt(fd, level, opt, value) }

// cookie is the kernel's name of a socket, 0 if it has none to give.
func cookie(fd int) uint64 {
	c, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return 0
	}
	return c
}

func cookieOf(nc net.Conn) (c uint64) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { c = cookie(int(fd)) })
	return c
}

// steal takes the descriptor out of a net.Conn, away from the Go poller.
func steal(nc net.Conn) (fd int, err error) {
	defer nc.Close()
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return -1, err
	}
	ctlErr := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if ctlErr != nil {
		return -1, ctlErr
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	return fd, err
}
