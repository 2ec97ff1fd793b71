//go:build !linux

package netstack

import (
	"net"
	"syscall"
)

// tune: Go's defaults have TCP_NODELAY set; the rest is Linux's.
func tune(net.Conn) {}

func unpaced(string, string, syscall.RawConn) error { return nil }

func unpacedListener(net.Listener) {}

// cookieOf is the kernel's name of a socket: only Linux gives it one.
func cookieOf(net.Conn) uint64 { return 0 }
