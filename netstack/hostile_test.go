package netstack_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/credit"
)

// victim is worker 0 of two; the test plays worker 1. It sends on channel 1 and
// receives on channel 2.
type victim struct {
	*cluster
	stack *netstack.Stack
	out   *outlet
	in    *inlet
	ready chan error // what Start returns
}

func newVictim(t *testing.T, alter func(o *netstack.StackOptions)) *victim {
	t.Helper()
	c := newCluster(t, clusterOptions{segment: 1 << 10, each: func(_ int, o *netstack.StackOptions) {
		o.CloseTimeout = 200 * time.Millisecond
		if alter != nil {
			alter(o)
		}
	}})
	must(t, c.opts[1].Listener.Close()) // worker 1 does not exist
	must(t, c.arenas[1].Close())
	c.stacks, c.arenas = c.stacks[:1], c.arenas[:1]
	v := &victim{cluster: c, stack: c.stacks[0], ready: make(chan error, 1)}
	v.out = newOutlet(t, c.arenas[0], netstack.PartitionOptions{Subpartitions: 1})
	v.in = newInlet(t, netstack.GateOptions{Inputs: []int{1}})
	must(t, v.stack.BindOut(1, 1, v.out.Partition, 0))
	must(t, v.stack.BindIn(1, 2, v.in.Gate, 0))
	go func() { v.ready <- v.stack.Start(context.Background()) }()
	return v
}

// dial connects as a stranger would.
func (v *victim) dial() net.Conn {
	v.t.Helper()
	nc, err := net.Dial("tcp", v.opts[0].Peers[0])
	must(v.t, err)
	must(v.t, nc.SetDeadline(time.Now().Add(patience)))
	return nc
}

// join dials and passes the handshake.
func (v *victim) join() net.Conn {
	v.t.Helper()
	nc := v.dial()
	_, err := nc.Write(netstack.HelloBytes(v.stack, 1, nil))
	must(v.t, err)
	must(v.t, netstack.ReadAnswer(nc, 0))
	must(v.t, <-v.ready)
	_, err = io.ReadFull(nc, make([]byte, 32)) // the first credit
	must(v.t, err)
	return nc
}

// end closes everything and checks that nothing leaked; the stack must report
// want.
func (v *victim) end(want error) {
	v.t.Helper()
	v.out.Cancel()
	v.out.Close()
	err := v.stack.Close()
	v.in.Close()
	if !errors.Is(err, want) {
		v.t.Errorf("Close: %v, want %v", err, want)
	}
	v.checkLeaks()
}

// expect waits for the failure of the attempt.
func (v *victim) expect(want error) *netstack.PeerError {
	v.t.Helper()
	select {
	case err := <-v.failed:
		var pe *netstack.PeerError
		if !errors.As(err, &pe) || !errors.Is(err, want) || pe.Peer != 1 {
			v.t.Errorf("OnFailure: %v, want %v of worker 1", err, want)
		}
		return pe
	case <-time.After(patience):
		v.t.Fatal("the attempt did not fail")
		return nil
	}
}

func data(sequence uint64, n int) netstack.RawFrame {
	return netstack.RawFrame{Type: netstack.FrameData, Epoch: 7, Channel: 2, Sequence: sequence, Payload: make([]byte, n)}
}

// TestHostilePeer: after a valid handshake, each of these closes the connection
// within one frame, fails the attempt with an error of its own, and leaks nothing.
func TestHostilePeer(t *testing.T) {
	corrupt := data(0, 100).Encode()
	corrupt[5] ^= 0x40
	damaged := data(0, 100)
	damaged.Flags, damaged.Sum = netstack.FlagChecksum, 12345
	oversize := data(0, 0)
	oversize.Length = 1<<10 - 31
	huge := netstack.RawFrame{Type: netstack.FrameControl, Epoch: 7, Length: 1<<32 - 1}
	replayed := data(0, 100)
	replayed.Epoch = 6
	stranger := data(0, 100)
	stranger.Channel = 99
	events := []byte{}
	for range netstack.MaxEvents + 1 {
		events = append(events, netstack.RawFrame{Type: netstack.FrameEvent, Epoch: 7, Channel: 2, Sequence: 16}.Encode()...)
	}
	for _, tc := range []struct {
		name string
		send []byte
		want error
		edge bool
	}{
		{"Garbage", []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), netstack.ErrFrame, false},
		{"HeaderBitFlip", corrupt, netstack.ErrFrame, false},
		{"PayloadChecksum", damaged.Encode(), netstack.ErrChecksum, true},
		{"EventChecksum", netstack.RawFrame{Type: netstack.FrameEvent, Flags: netstack.FlagChecksum, Epoch: 7, Channel: 2, Sequence: 16, Payload: []byte("x")}.Encode(), netstack.ErrChecksum, true},
		{"ControlChecksum", netstack.RawFrame{Type: netstack.FrameControl, Flags: netstack.FlagChecksum, Epoch: 7, Payload: []byte("x")}.Encode(), netstack.ErrChecksum, false},
		{"FlagOfAnotherType", netstack.RawFrame{Type: netstack.FrameCredit, Flags: netstack.FlagPartial, Epoch: 7, Channel: 1}.Encode(), netstack.ErrFrame, false},
		{"Oversize", oversize.Encode(), netstack.ErrOversize, true},
		{"HugeControl", huge.Encode(), netstack.ErrOversize, false},
		{"StaleEpoch", replayed.Encode(), netstack.ErrStale, false},
		{"UnknownChannel", stranger.Encode(), netstack.ErrChannel, false},
		{"CreditOverflow", append(append(data(0, 9).Encode(), data(1, 9).Encode()...), data(2, 9).Encode()...), credit.ErrNoCredit, true},
		{"SequenceGap", append(data(0, 9).Encode(), data(2, 9).Encode()...), credit.ErrSequence, true},
		{"SequenceReplay", append(data(0, 9).Encode(), data(0, 9).Encode()...), credit.ErrSequence, true},
		{"CreditOutOfRange", netstack.RawFrame{Type: netstack.FrameCredit, Epoch: 7, Channel: 1, Sequence: 1 << 50}.Encode(), credit.ErrLimit, true},
		{"CreditForUnknownChannel", netstack.RawFrame{Type: netstack.FrameCredit, Epoch: 7, Channel: 2, Sequence: 1}.Encode(), netstack.ErrChannel, false},
		{"ControlOnAChannel", netstack.RawFrame{Type: netstack.FrameControl, Epoch: 7, Channel: 2, Payload: []byte("x")}.Encode(), netstack.ErrChannel, false},
		{"EventFlood", events, netstack.ErrEvents, true},
		{"DataAfterGoodbye", append(netstack.RawFrame{Type: netstack.FrameGoodbye, Epoch: 7}.Encode(), data(0, 9).Encode()...), netstack.ErrFrame, false},
		{"KilledMidFrame", data(0, 100).Encode()[:70], netstack.ErrLost, false},
		{"KilledMidHeader", data(0, 100).Encode()[:7], netstack.ErrLost, false},
		{"Vanished", nil, netstack.ErrLost, false},
	} {
		for _, mode := range []string{"loop", "goroutines"} {
			t.Run(tc.name+"/"+mode, func(t *testing.T) {
				v := newVictim(t, func(o *netstack.StackOptions) { o.ForceGoroutines = mode == "goroutines" })
				nc := v.join()
				_, err := nc.Write(tc.send)
				must(t, err)
				if errors.Is(tc.want, netstack.ErrLost) {
					must(t, nc.Close())
				}
				if pe := v.expect(tc.want); (pe.Edge != "") != tc.edge {
					t.Errorf("edge %q, want one: %v", pe.Edge, tc.edge)
				}
				_, _ = io.Copy(io.Discard, nc) // the victim has hung up
				must(t, errors.Join(ignoreClosed(nc.Close())))
				v.end(tc.want)
			})
		}
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// TestHostileSlowHandshake: connections that say nothing are closed at the
// deadline, and an honest peer gets in meanwhile.
func TestHostileSlowHandshake(t *testing.T) {
	v := newVictim(t, func(o *netstack.StackOptions) { o.HandshakeTimeout = 50 * time.Millisecond })
	var silent []net.Conn
	for i := range 10 {
		nc := v.dial()
		if i%2 == 0 { // half of a hello
			_, err := nc.Write(netstack.HelloBytes(v.stack, 1, nil)[:20])
			must(t, err)
		}
		silent = append(silent, nc)
	}
	for _, nc := range silent {
		_, err := io.Copy(io.Discard, nc) // returns when the victim hangs up
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Error("a silent connection was kept")
		}
		must(t, nc.Close())
	}
	nc := v.join()
	must(t, nc.Close())
	v.expect(netstack.ErrLost)
	v.end(netstack.ErrLost)
}

// TestHostileHalfOpen: a peer that stops in the middle of a frame holds up only
// its own connection, and Close does not wait for it longer than it may.
func TestHostileHalfOpen(t *testing.T) {
	v := newVictim(t, nil)
	nc := v.join()
	_, err := nc.Write(data(0, 100).Encode()[:70])
	must(t, err)
	v.end(netstack.ErrTimeout)
	must(t, nc.Close())
}

// TestHostileThousandConnections: strangers take no more than the slots for
// handshakes; the others are told to go, and the honest peer comes through.
func TestHostileThousandConnections(t *testing.T) {
	v := newVictim(t, func(o *netstack.StackOptions) { o.HandshakeTimeout = 300 * time.Millisecond })
	var wg sync.WaitGroup
	var mu sync.Mutex
	busy := 0
	for range 1000 {
		nc := v.dial()
		wg.Go(func() {
			if err := netstack.ReadAnswer(nc, 0); errors.Is(err, netstack.ErrBusy) {
				mu.Lock()
				busy++
				mu.Unlock()
			}
			_ = nc.Close()
		})
	}
	wg.Wait()
	if busy < 1000-20*netstack.MaxHandshakes || busy == 0 {
		t.Errorf("%d of 1000 were told that there is no place", busy)
	}
	nc := v.join()
	must(t, nc.Close())
	v.expect(netstack.ErrLost)
	v.end(netstack.ErrLost)
}

// TestHandshakeRefusals: the refused side is told why, with both values.
func TestHandshakeRefusals(t *testing.T) {
	v := newVictim(t, nil)
	for _, tc := range []struct {
		name  string
		alter func(h *netstack.Hello)
		want  error
		got   string
	}{
		{"version", func(h *netstack.Hello) { h.Version = 99 }, netstack.ErrVersion, "99"},
		{"job", func(h *netstack.Hello) { h.Job = "other" }, netstack.ErrJob, `"other"`},
		{"replayed epoch", func(h *netstack.Hello) { h.Epoch = 6 }, netstack.ErrEpoch, "6"},
		{"later epoch", func(h *netstack.Hello) { h.Epoch = 8 }, netstack.ErrEpoch, "8"},
		{"workers", func(h *netstack.Hello) { h.Workers = 3 }, netstack.ErrWorker, "3 workers"},
		{"own index", func(h *netstack.Hello) { h.Index = 0 }, netstack.ErrWorker, "index 0"},
		{"index out of range", func(h *netstack.Hello) { h.Index = 1 << 31 }, netstack.ErrWorker, "index 2147483648"},
		{"graph", func(h *netstack.Hello) { h.Graph = 0xabc }, netstack.ErrGraph, "0000000000000abc"},
		{"layout", func(h *netstack.Hello) { h.Layout = 0xdef }, netstack.ErrLayout, "0000000000000def"},
		{"segment", func(h *netstack.Hello) { h.Segment = 512 }, netstack.ErrSegmentSize, "512"},
		{"event", func(h *netstack.Hello) { h.Event = 1 }, netstack.ErrEventSize, "1"},
	} {
		nc := v.dial()
		_, err := nc.Write(netstack.HelloBytes(v.stack, 1, tc.alter))
		must(t, err)
		var he *netstack.HandshakeError
		if err := netstack.ReadAnswer(nc, 0); !errors.As(err, &he) || !errors.Is(err, tc.want) || he.Got != tc.got {
			t.Errorf("%s: %v, want %v: got %s", tc.name, err, tc.want, tc.got)
		}
		must(t, nc.Close())
	}
	first := v.join()
	second := v.dial()
	_, err := second.Write(netstack.HelloBytes(v.stack, 1, nil))
	must(t, err)
	if err := netstack.ReadAnswer(second, 0); !errors.Is(err, netstack.ErrDuplicate) {
		t.Errorf("second connection of worker 1: %v, want ErrDuplicate", err)
	}
	must(t, errors.Join(first.Close(), second.Close()))
	v.expect(netstack.ErrLost)
	v.end(netstack.ErrLost)
}
