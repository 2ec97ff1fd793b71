package netstack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// descriptors counts the open ones.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(entries)
}

func TestControlMessagesArriveInOrder(t *testing.T) {
	for name, co := range variants {
		t.Run(name, func(t *testing.T) {
			const n = 3000
			got := make(chan string, n+1)
			each := co.each
			co.each = func(i int, o *netstack.StackOptions) {
				if each != nil {
					each(i, o)
				}
				o.OnControl = func(peer int, payload []byte) { got <- fmt.Sprint(peer, " ", len(payload), " ", string(payload[:4])) }
			}
			c := newCluster(t, co)
			c.start()
			var want []string
			for i := range n {
				payload := fmt.Appendf(nil, "%04d", i)
				payload = append(payload, make([]byte, i*37%2000)...)
				c.control(1, 0, payload)
				want = append(want, fmt.Sprint(1, " ", len(payload), " ", string(payload[:4])))
			}
			c.control(1, 0, append([]byte("last"), make([]byte, netstack.MaxControl-4)...))
			want = append(want, fmt.Sprint(1, " ", netstack.MaxControl, " last"))
			c.close() // flushes
			close(got)
			if g := slices.Collect(receive(got)); !slices.Equal(g, want) {
				t.Errorf("got %d messages, want %d, or another order", len(g), len(want))
			}
		})
	}
}

// control sends a message, however long it takes to find room.
func (c *cluster) control(from, to int, payload []byte) {
	c.t.Helper()
	waitUntil(c.t, "room for a control message", func() bool {
		err := c.stacks[from].Control(to, payload)
		if err != nil && !errors.Is(err, netstack.ErrControlFull) {
			c.t.Fatal(err)
		}
		return err == nil
	})
}

func receive[T any](ch chan T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for v := range ch {
			if !yield(v) {
				return
			}
		}
	}
}

func TestControlIsBounded(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	if err := c.stacks[0].Control(1, make([]byte, netstack.MaxControl+1)); !errors.Is(err, netstack.ErrOversize) {
		t.Errorf("too long: %v, want ErrOversize", err)
	}
	if err := c.stacks[0].Control(0, nil); !errors.Is(err, netstack.ErrPeerIndex) {
		t.Errorf("to itself: %v, want ErrPeerIndex", err)
	}
	var err error
	for n := 0; err == nil; n++ { // nobody sends before Start
		if n > 100_000 {
			t.Fatal("no limit")
		}
		err = c.stacks[0].Control(1, make([]byte, 1000))
	}
	if !errors.Is(err, netstack.ErrControlFull) {
		t.Errorf("too many: %v, want ErrControlFull", err)
	}
	c.start()
	c.close()
}

func TestCloseWithoutStart(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	must(t, errors.Join(c.opts[0].Listener.Close(), c.opts[1].Listener.Close()))
	for _, s := range c.stacks {
		must(t, s.Close())
		if err := s.Close(); !errors.Is(err, netstack.ErrClosed) {
			t.Errorf("second Close: %v, want ErrClosed", err)
		}
		if err := s.Start(context.Background()); !errors.Is(err, netstack.ErrClosed) {
			t.Errorf("Start after Close: %v, want ErrClosed", err)
		}
	}
	c.checkLeaks()
}

func TestStartNamesThePeerThatIsMissing(t *testing.T) {
	before := descriptors(t)
	c := newCluster(t, clusterOptions{workers: 3, each: func(_ int, o *netstack.StackOptions) { o.ConnectTimeout = 300 * time.Millisecond }})
	must(t, c.opts[1].Listener.Close())
	must(t, c.arenas[1].Close())
	c.stacks = []*netstack.Stack{c.stacks[0], c.stacks[2]}
	c.arenas = []*bufferpool.Arena{c.arenas[0], c.arenas[2]}
	for i, err := range c.each(func(s *netstack.Stack) error { return s.Start(context.Background()) }) {
		if err == nil {
			t.Errorf("stack %d started without worker 1", i)
			continue
		}
		if got := err.Error(); len(got) < 30 || got[:28] != "netstack: worker 1 is missin" {
			t.Errorf("stack %d: %v, want that worker 1 is missing", i, err)
		}
	}
	c.close()
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	cause := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(context.Background())
	started := make(chan error, 1)
	go func() { started <- c.stacks[1].Start(ctx) }()
	cancel(cause)
	if err := <-started; err != nil && !errors.Is(err, cause) {
		t.Errorf("Start: %v, want %v", err, cause)
	}
	must(t, c.opts[0].Listener.Close())
	must(t, errors.Join(c.each((*netstack.Stack).Close)...))
	c.checkLeaks()
}

func TestStartFailsWhenMemoryIsShort(t *testing.T) {
	c := newCluster(t, clusterOptions{segment: 256, budget: 256 * 8})
	in := newInlet(t, netstack.GateOptions{Inputs: []int{20}})
	for ch := range 20 {
		must(t, c.stacks[0].BindIn(1, uint32(1+ch), in.Gate, ch))
	}
	var be *bufferpool.BudgetError
	if err := c.stacks[0].Start(context.Background()); !errors.As(err, &be) {
		t.Errorf("Start: %v, want a BudgetError", err)
	}
	must(t, errors.Join(c.opts[0].Listener.Close(), c.opts[1].Listener.Close()))
	c.close()
}

func TestPeersMayStartInAnyOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		c := newCluster(t, clusterOptions{workers: 3})
		for i := range c.opts {
			must(t, c.opts[i].Listener.Close())
			c.opts[i].Listener = nil
		}
		for i, o := range c.opts {
			s, err := netstack.NewStack(o)
			must(t, err)
			must(t, c.stacks[i].Close())
			c.stacks[i] = s
		}
		started := make(chan error, 3)
		for _, i := range order {
			go func() { started <- c.stacks[i].Start(context.Background()) }()
			time.Sleep(10 * time.Millisecond) // let it come first, mostly
		}
		must(t, errors.Join(<-started, <-started, <-started))
		c.close()
	}
}

// TestNewerAttemptWaitsForTheOlderToGo: the dialing side is ahead; its peer's old
// attempt refuses it until it is replaced.
func TestNewerAttemptWaitsForTheOlderToGo(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	o0, o1 := c.opts[0], c.opts[1]
	must(t, c.stacks[1].Close())
	o1.Epoch = 8
	newer, err := netstack.NewStack(o1)
	must(t, err)
	o0.Listener, o0.Epoch = nil, 8
	replaced, err := netstack.NewStack(o0)
	must(t, err)
	old := make(chan error, 1)
	go func() { old <- c.stacks[0].Start(context.Background()) }()
	started := make(chan error, 2)
	go func() { started <- newer.Start(context.Background()) }()
	time.Sleep(30 * time.Millisecond) // long enough to be refused a few times
	must(t, c.stacks[0].Close())
	if err := <-old; err == nil {
		t.Error("the old attempt was joined by the new one")
	}
	go func() { started <- replaced.Start(context.Background()) }()
	must(t, errors.Join(<-started, <-started))
	c.stacks = []*netstack.Stack{replaced, newer}
	c.close()
}

func TestOlderAttemptIsRefusedForGood(t *testing.T) {
	c := newCluster(t, clusterOptions{each: func(i int, o *netstack.StackOptions) {
		o.Epoch = uint64(9 - i)
		o.ConnectTimeout = patience
	}})
	go c.stacks[0].Start(context.Background())
	var he *netstack.HandshakeError
	if err := c.stacks[1].Start(context.Background()); !errors.As(err, &he) || !errors.Is(err, netstack.ErrEpoch) || he.Peer != 0 {
		t.Errorf("Start: %v, want ErrEpoch of worker 0", err)
	}
	c.close()
}

// TestAbortTellsThePeer: the one that aborts says why at its own end; the other
// loses its peer.
func TestAbortTellsThePeer(t *testing.T) {
	for name, co := range variants {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 2}, 0)
			for n := range uint64(10) {
				p.out.send(int(n)%2, n, p.out.MaxRecord())
			}
			cause := errors.New("operator failed")
			p.stacks[0].Abort(cause)
			if err := <-p.failed; !errors.Is(err, netstack.ErrLost) {
				t.Errorf("the peer: %v, want ErrLost", err)
			}
			if err := p.stacks[0].Close(); !errors.Is(err, cause) {
				t.Errorf("Close after Abort: %v, want %v", err, cause)
			}
			if err := p.stacks[1].Close(); !errors.Is(err, netstack.ErrLost) {
				t.Errorf("Close of the peer: %v, want ErrLost", err)
			}
			p.out.Cancel()
			p.out.Close()
			p.in.Close()
			p.checkLeaks()
			if after := descriptors(t); after != before {
				t.Errorf("%d descriptors, %d before", after, before)
			}
		})
	}
}

// TestCloseFlushesWhatIsQueued: the source closes at once; the sink reads later.
func TestCloseFlushesWhatIsQueued(t *testing.T) {
	eachVariant(t, func(t *testing.T, co clusterOptions) {
		p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1}, 0)
		for n := range uint64(10) {
			p.out.send(0, n, p.out.MaxRecord())
		}
		p.out.finish()
		closed := make(chan error, 1)
		go func() { closed <- p.stacks[0].Close() }()
		n := 0
		p.in.each(func(netstack.Item) { n++ })
		if n != 11 {
			t.Errorf("%d items, want 10 and the end", n)
		}
		must(t, p.stacks[1].Close())
		must(t, <-closed)
		p.checkLeaks()
	})
}

// TestPeerThatLeftWithDataQueued: a peer that says goodbye and goes, while data is
// queued for it, fails the attempt.
func TestPeerThatLeftWithDataQueued(t *testing.T) {
	for name, co := range variants {
		t.Run(name, func(t *testing.T) {
			each := co.each
			co.each = func(i int, o *netstack.StackOptions) {
				if each != nil {
					each(i, o)
				}
				o.CloseTimeout = 50 * time.Millisecond
			}
			p := newPair(t, co, netstack.PartitionOptions{Subpartitions: 1, Exclusive: 12, MaxQueued: 20}, 2)
			for n := range uint64(14) { // 10 have credit
				p.out.send(0, n, p.out.MaxRecord())
			}
			p.out.Flush(0)
			if err := p.stacks[1].Close(); !errors.Is(err, netstack.ErrTimeout) {
				t.Errorf("the one that leaves: %v, want ErrTimeout", err)
			}
			if err := <-p.failed; !errors.Is(err, netstack.ErrLeft) && !errors.Is(err, netstack.ErrLost) {
				t.Errorf("the one that stays: %v, want ErrLeft", err)
			}
			p.out.Cancel()
			p.out.Close()
			p.in.Close()
			_ = p.stacks[0].Close()
			p.checkLeaks()
		})
	}
}

func TestBindingIsChecked(t *testing.T) {
	c := newCluster(t, clusterOptions{})
	out := newOutlet(t, c.arenas[0], netstack.PartitionOptions{Subpartitions: 2})
	in := newInlet(t, netstack.GateOptions{Inputs: []int{2}})
	s := c.stacks[0]
	must(t, s.BindOut(1, 1, out.Partition, 0))
	must(t, s.BindIn(1, 1, in.Gate, 0)) // the other direction
	for what, err := range map[string]error{
		"number twice":         s.BindOut(1, 1, out.Partition, 1),
		"subpartition twice":   s.BindOut(1, 2, out.Partition, 0),
		"no such subpartition": s.BindOut(1, 2, out.Partition, 2),
		"number 0":             s.BindOut(1, 0, out.Partition, 1),
		"in: number twice":     s.BindIn(1, 1, in.Gate, 1),
		"in: channel twice":    s.BindIn(1, 2, in.Gate, 0),
		"in: no such channel":  s.BindIn(1, 2, in.Gate, -1),
	} {
		if !errors.Is(err, netstack.ErrBound) {
			t.Errorf("%s: %v, want ErrBound", what, err)
		}
	}
	for _, peer := range []int{-1, 0, 2} {
		if err := s.BindIn(peer, 9, in.Gate, 1); !errors.Is(err, netstack.ErrPeerIndex) {
			t.Errorf("peer %d: %v, want ErrPeerIndex", peer, err)
		}
	}
	out.Close()
	must(t, errors.Join(c.opts[0].Listener.Close(), c.opts[1].Listener.Close()))
	c.close()
}
