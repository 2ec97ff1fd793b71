package bench

import (
	"fmt"
	"io"
	"net"
	"time"
)

// connSend is rawSend for connections of the net package: those with TLS.
func (w wire) connSend(addr string, bytes, call int64) (elapsed time.Duration, cpu float64, err error) {
	conn, err := w.dial(addr)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	buf := make([]byte, call)
	start, used := time.Now(), CPUSeconds()
	for left := bytes; left > 0; left -= call {
		if _, err := conn.Write(buf[:min(left, call)]); err != nil {
			return 0, 0, err
		}
	}
	_, err = io.ReadFull(conn, buf[:1])
	return time.Since(start), CPUSeconds() - used, err
}

// connReceive reads what connSend writes.
func (w wire) connReceive(addr string, bytes, call int64) (r report, err error) {
	l, err := w.listen(addr)
	if err != nil {
		return r, err
	}
	defer l.Close()
	conn, err := l.Accept()
	if err != nil {
		return r, err
	}
	defer conn.Close()
	used := CPUSeconds()
	if err := readAll(conn, bytes, call, &r); err != nil {
		return r, err
	}
	r.CPU = CPUSeconds() - used
	if _, err = conn.Write(make([]byte, 1)); err == nil {
		_, _ = conn.Read(make([]byte, 1)) // until the sender has closed it
	}
	return r, err
}

func readAll(conn net.Conn, bytes, call int64, r *report) error {
	buf := make([]byte, call)
	for r.Bytes < bytes {
		n, err := conn.Read(buf)
		r.Bytes += int64(n)
		if err != nil {
			return fmt.Errorf("bench: receiver after %d bytes: %w", r.Bytes, err)
		}
	}
	return nil
}
