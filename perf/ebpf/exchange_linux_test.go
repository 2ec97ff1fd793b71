//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// exchange runs one end of the real exchange: worker 0 sends to worker 1.
func (c *childConfig) exchange() error {
	arena, err := bufferpool.New(bufferpool.Options{Budget: 16 << 20})
	if err != nil {
		return err
	}
	index := map[string]int{"exchange-send": 0, "exchange-receive": 1}[c.role]
	s, err := netstack.NewStack(netstack.StackOptions{
		Arena: arena, Index: index, Peers: strings.Split(c.addr, ","), Job: "test", ForceGoroutines: c.goroutines,
		OnFailure: func(error) { os.Exit(0) }, // the test has ended
	})
	if err != nil {
		return err
	}
	if index == 0 {
		return c.exchangeSend(s, arena)
	}
	return c.exchangeReceive(s)
}

func (c *childConfig) exchangeSend(s *netstack.Stack, arena *bufferpool.Arena) error {
	parker := netstack.NewParker()
	p, err := netstack.NewPartition(arena, netstack.PartitionOptions{
		Name: "source", Subpartitions: 1, Exclusive: 16, MaxQueued: 16, Waker: parker, Wait: func() { parker.Park(nil) },
	})
	if err != nil {
		return err
	}
	if err := s.BindOut(1, 1, p, 0); err != nil {
		return err
	}
	if err := s.Start(context.Background()); err != nil {
		return err
	}
	fmt.Println("connected")
	c.awaitBegin()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		for range c.burst {
			for !p.Available() {
				p.Await()
				parker.Park(nil)
			}
			p.Space(0, c.size)
			p.Commit(0, c.size)
			p.Flush(time.Since(began))
		}
	}
}

func (c *childConfig) exchangeReceive(s *netstack.Stack) error {
	parker := netstack.NewParker()
	g, err := netstack.NewGate(netstack.GateOptions{Name: "sink", Inputs: []int{1}, Exclusive: 8, Waker: parker})
	if err != nil {
		return err
	}
	if err := s.BindIn(0, 1, g, 0); err != nil {
		return err
	}
	fmt.Println("ready")
	if err := s.Start(context.Background()); err != nil {
		return err
	}
	for {
		it, ok := g.Next()
		if !ok {
			parker.Park(nil)
			continue
		}
		time.Sleep(c.delay)
		it.Processed()
		it.Buf.Release()
		g.Done(it.Channel)
	}
}

// startExchange starts two workers that exchange buffers.
func startExchange(t *testing.T, args ...string) (receive, send *process) {
	t.Helper()
	needProbes(t)
	var addrs []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, l.Addr().String())
		_ = l.Close()
	}
	args = append(args, "-addr="+strings.Join(addrs, ","))
	receive, _ = start(t, nil, append([]string{"-role=exchange-receive"}, args...)...)
	send, _ = start(t, nil, append([]string{"-role=exchange-send", "-wait"}, args...)...)
	return receive, send
}
