package bench

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rawSend is the machine's limit: blocking writes of call bytes on a plain socket. It
// returns when the receiver has said that everything arrived, with the time and the
// processor time since the connection was there.
func rawSend(addr string, bytes, call int64) (elapsed time.Duration, cpu float64, err error) {
	fd, sa, err := rawSocket(addr)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(fd)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if err = unix.Connect(fd, sa); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return 0, 0, fmt.Errorf("bench: connecting to the raw receiver: %w", err)
		}
	}
	buf := make([]byte, call)
	start, used := time.Now(), CPUSeconds()
	for left := bytes; left > 0; {
		n, err := unix.Write(fd, buf[:min(left, call)])
		if err != nil {
			return 0, 0, err
		}
		left -= int64(n)
	}
	_, err = unix.Read(fd, buf[:1])
	return time.Since(start), CPUSeconds() - used, err
}

// rawReceive reads what rawSend writes, up to call bytes at a time.
func rawReceive(addr string, bytes, call int64) (report, error) {
	l, sa, err := rawSocket(addr)
	if err != nil {
		return report{}, err
	}
	defer unix.Close(l)
	_ = unix.SetsockoptInt(l, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err := unix.Bind(l, sa); err != nil {
		return report{}, err
	}
	if err := unix.Listen(l, 1); err != nil {
		return report{}, err
	}
	fd, _, err := unix.Accept(l)
	if err != nil {
		return report{}, err
	}
	defer unix.Close(fd)
	r := report{}
	cpu := CPUSeconds()
	buf := make([]byte, call)
	for r.Bytes < bytes {
		n, err := unix.Read(fd, buf)
		if err != nil || n == 0 {
			return r, fmt.Errorf("bench: raw receiver after %d bytes: %w", r.Bytes, err)
		}
		r.Bytes += int64(n)
	}
	r.CPU = CPUSeconds() - cpu
	_, err = unix.Write(fd, buf[:1])
	return r, err
}

// rawSocket is a Unix socket if the address is a path, else a TCP socket with the same
// congestion control as the exchange's.
func rawSocket(addr string) (int, unix.Sockaddr, error) {
	if strings.HasPrefix(addr, "/") {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		return fd, &unix.SockaddrUnix{Name: addr}, err
	}
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return 0, nil, err
	}
	sa := &unix.SockaddrInet4{Port: a.Port}
	copy(sa.Addr[:], a.IP.To4())
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	return fd, sa, err
}

// unpaced gives a baseline's connection the same congestion control, before it is made.
func unpaced(_, _ string, raw syscall.RawConn) error {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	})
	return nil
}

func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
