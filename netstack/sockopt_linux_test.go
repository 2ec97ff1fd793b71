package netstack

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Pacing stays on in a connection that began with the congestion control that wants it. So
// both ends have ours before anybody can change it.
func TestConnectionsBeginWithoutPacing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	unpacedListener(l)
	d := net.Dialer{Control: unpaced}
	dialed, err := d.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	for end, nc := range map[string]net.Conn{"dialed": dialed, "accepted": accepted} {
		if got := congestion(t, nc); got != "cubic" {
			t.Errorf("the %s end begins with %q, want cubic", end, got)
		}
	}
}

func congestion(t *testing.T, nc net.Conn) (name string) {
	t.Helper()
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		name, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}
