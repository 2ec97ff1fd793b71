//go:build !linux

package netstack

import "net"

// tune: Go's defaults have TCP_NODELAY set; the rest is Linux's.
func tune(net.Conn) {}

// cookieOf is the kernel's name of a socket: only Linux gives it one.
func cookieOf(net.Conn) uint64 { return 0 }
