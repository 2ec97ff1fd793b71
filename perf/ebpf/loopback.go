package ebpf

import (
	"fmt"
	"net"
	"time"
)

// loopback makes a connected pair.
func loopback() (a, b net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = l.Close() }()
	if a, err = net.DialTimeout("tcp", l.Addr().String(), time.Second); err != nil {
		return nil, nil, err
	}
	if b, err = l.Accept(); err != nil {
		_ = a.Close()
		return nil, nil, fmt.Errorf("loopback: %w", err)
	}
	return a, b, nil
}
