package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// The baseline of latency is Go's own net.Conn, which sends at once (TCP_NODELAY) and
// whose reader the netpoller wakes.

// rawEcho answers every message on a plain connection until it is closed.
func (w wire) rawEcho(addr string) (r report, err error) {
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
	var message [pingSize]byte
	for {
		if _, err := io.ReadFull(conn, message[:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return r, err
		}
		if _, err := conn.Write(message[:]); err != nil {
			return r, err
		}
		r.Bytes += pingSize
	}
}

// withRawEcho runs f with a connection to an echo in another process. It must send
// count messages and hear as many.
func (w wire) withRawEcho(ctx context.Context, count int64, f func(conn net.Conn) error) error {
	r, err := task{Role: "raw-echo", Wire: w}.with(ctx, func(addrs []string) error {
		conn, err := w.dial(addrs[1])
		if err != nil {
			return err
		}
		return errors.Join(f(conn), conn.Close())
	})
	if err == nil && r.Bytes != count*pingSize {
		err = fmt.Errorf("bench: the echo has answered %d messages of %d", r.Bytes/pingSize, count)
	}
	return err
}

// rawRoundTrips is roundTrips over a plain connection.
func (w wire) rawRoundTrips(ctx context.Context, count int64, into *perf.Histogram) error {
	warm := count / 10
	return w.withRawEcho(ctx, warm+count, func(conn net.Conn) error {
		var message [pingSize]byte
		for i := range warm + count {
			start := time.Now()
			if _, err := conn.Write(message[:]); err != nil {
				return err
			}
			if _, err := io.ReadFull(conn, message[:]); err != nil {
				return err
			}
			if i >= warm {
				into.Record(int64(time.Since(start)))
			}
		}
		return nil
	})
}

// rawOpenLoop is openLoop over a plain connection.
func (w wire) rawOpenLoop(ctx context.Context, rate float64, count int64, into *perf.Histogram) error {
	return w.withRawEcho(ctx, count, func(conn net.Conn) error {
		load := NewOpenLoop(rate, PreciseSleep)
		var heard sync.WaitGroup
		var failed error
		heard.Go(func() {
			var message [pingSize]byte
			for n := range count {
				if _, failed = io.ReadFull(conn, message[:]); failed != nil {
					return
				}
				load.Arrived(n, into)
			}
		})
		var message [pingSize]byte
		for range count {
			load.Next()
			if _, err := conn.Write(message[:]); err != nil {
				return errors.Join(err, conn.Close())
			}
		}
		heard.Wait()
		return failed
	})
}
