//go:build !linux

package netstack

import "net"

// tune: Go's defaults have TCP_NODELAY set; the rest is Linux's.
func tune(net.Conn) {}
