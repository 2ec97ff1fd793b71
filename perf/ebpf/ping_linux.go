//go:build linux && (amd64 || arm64)

package ebpf

import (
	"net"
)

// pingCost is the time of a byte over a TCP connection of this process's own, ns. With
// a kernel, its edges are attached and follow the connection.
func pingCost(k *kernel) (float64, error) {
	a, b, err := loopback()
	if err != nil {
		return 0, err
	}
	defer func() { _, _ = a.Close(), b.Close() }()
	if k != nil {
		for _, nc := range []net.Conn{a, b} {
			cookie, err := socketCookie(nc)
			if err != nil {
				return 0, err
			}
			if err := k.coll.Maps[latencyMapFlows].Put(cookie, latencyFlow{}); err != nil {
				return 0, err
			}
		}
		if err := k.attachKernel(); err != nil {
			return 0, err
		}
	}
	var buf [1]byte
	ns := each(300, func() {
		if _, e := a.Write(buf[:]); e != nil {
			err = e
		}
		if _, e := b.Read(buf[:]); e != nil {
			err = e
		}
	})
	return ns, err
}
