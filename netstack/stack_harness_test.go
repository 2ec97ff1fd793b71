package netstack_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
	"go.uber.org/goleak"
)

const patience = 30 * time.Second // how long a test waits for what must happen

// cluster is a set of workers in one process, each with an arena of its own.
type cluster struct {
	t      testing.TB
	opts   []netstack.StackOptions
	arenas []*bufferpool.Arena
	stacks []*netstack.Stack
	failed chan error // what OnFailure got
}

type clusterOptions struct {
	workers int
	network string
	segment int
	budget  int64
	each    func(i int, o *netstack.StackOptions)
}

func newCluster(t testing.TB, co clusterOptions) *cluster {
	t.Helper()
	if co.workers == 0 {
		co.workers = 2
	}
	if co.network == "" {
		co.network = "tcp"
	}
	c := &cluster{t: t, failed: make(chan error, 64)}
	listeners, addrs := listen(t, co.network, co.workers)
	for i := range co.workers {
		arena, err := bufferpool.New(bufferpool.Options{SegmentSize: co.segment, Budget: co.budget})
		must(t, err)
		o := netstack.StackOptions{
			Arena: arena, Index: i, Peers: addrs, Listener: listeners[i], Network: co.network, Job: "test", Epoch: 7,
			OnFailure: func(err error) { c.failed <- err },
		}
		if co.each != nil {
			co.each(i, &o)
		}
		s, err := netstack.NewStack(o)
		must(t, err)
		c.opts, c.arenas, c.stacks = append(c.opts, o), append(c.arenas, arena), append(c.stacks, s)
	}
	return c
}

func listen(t testing.TB, network string, n int) (ls []net.Listener, addrs []string) {
	for i := range n {
		addr := "127.0.0.1:0"
		if network == "unix" {
			addr = filepath.Join(t.TempDir(), string(rune('a'+i)))
		}
		l, err := net.Listen(network, addr)
		must(t, err)
		ls, addrs = append(ls, l), append(addrs, l.Addr().String())
	}
	return ls, addrs
}

func (c *cluster) start() {
	c.t.Helper()
	must(c.t, errors.Join(c.each(func(s *netstack.Stack) error { return s.Start(context.Background()) })...))
}

// each runs f for all stacks at the same time.
func (c *cluster) each(f func(s *netstack.Stack) error) []error {
	errs := make([]error, len(c.stacks))
	var wg sync.WaitGroup
	for i, s := range c.stacks {
		wg.Go(func() { errs[i] = f(s) })
	}
	wg.Wait()
	return errs
}

// close ends all stacks and checks that nothing is left.
func (c *cluster) close() {
	c.t.Helper()
	must(c.t, errors.Join(c.each((*netstack.Stack).Close)...))
	c.checkLeaks()
}

func (c *cluster) checkLeaks() {
	c.t.Helper()
	for i, a := range c.arenas {
		if n := a.Held(); n != 0 {
			c.t.Errorf("worker %d holds %d buffers:\n%v", i, n, a.Ledger())
		}
		must(c.t, a.Close())
	}
	if tt, ok := c.t.(*testing.T); ok {
		goleak.VerifyNone(tt)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outlet is a partition with the goroutine's Parker that waits for it.
type outlet struct {
	*netstack.Partition
	parker *netstack.Parker
}

func newOutlet(t testing.TB, arena *bufferpool.Arena, o netstack.PartitionOptions) *outlet {
	t.Helper()
	parker := netstack.NewParker()
	o.Waker, o.Wait = parker, func() { parker.Park(nil) }
	if o.Name == "" {
		o.Name = "source[0]"
	}
	if o.Clock == nil { // as in a job; what waits has a clock of its own
		o.Clock = perf.NewClock()
	}
	p, err := netstack.NewPartition(arena, o)
	must(t, err)
	return &outlet{Partition: p, parker: parker}
}

// ready waits until the partition takes a record.
func (o *outlet) ready() {
	for !o.Available() {
		o.Await()
		o.parker.Park(nil)
	}
}

// send writes one record of n bytes that begins with its number.
func (o *outlet) send(sub int, number uint64, n int) {
	o.ready()
	b := o.Space(sub, n)
	binary.LittleEndian.PutUint64(b, number)
	o.Commit(sub, n)
}

// finish flushes and closes the partition.
func (o *outlet) finish() {
	o.Finish()
	o.Close()
}

// inlet is a gate with the Parker of the goroutine that reads it.
type inlet struct {
	*netstack.Gate
	parker *netstack.Parker
}

func newInlet(t testing.TB, o netstack.GateOptions) *inlet {
	t.Helper()
	parker := netstack.NewParker()
	o.Waker = parker
	if o.Name == "" {
		o.Name = "sink[0]"
	}
	if o.Clock == nil {
		o.Clock = perf.NewClock()
	}
	g, err := netstack.NewGate(o)
	must(t, err)
	return &inlet{Gate: g, parker: parker}
}

// next waits for an item.
func (in *inlet) next() netstack.Item {
	for {
		if it, ok := in.Next(); ok {
			return it
		}
		in.parker.Park(nil)
	}
}

// each gives f every item until all channels have ended, and releases the buffers.
func (in *inlet) each(f func(netstack.Item)) {
	for in.Open() > 0 {
		it := in.next()
		f(it)
		if it.Event == nil {
			it.Buf.Release()
			in.Done(it.Channel)
		}
	}
	in.Close()
}
