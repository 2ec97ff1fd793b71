package bench

import (
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

// outlet is a partition with the parker of the goroutine that fills it.
type outlet struct {
	*netstack.Partition
	parker *netstack.Parker
	clock  time.Time
}

func newOutlet(arena *bufferpool.Arena, o netstack.PartitionOptions) (*outlet, error) {
	parker := netstack.NewParker()
	o.Name, o.Waker, o.Wait = "writer", parker, func() { parker.Park(nil) }
	o.Clock = perf.NewClock() // an account is kept, as in jobs; nobody reads it
	p, err := netstack.NewPartition(arena, o)
	return &outlet{Partition: p, parker: parker, clock: time.Now()}, err
}

// ready waits until the partition takes a record.
func (o *outlet) ready() {
	for !o.Available() {
		o.Await()
		o.parker.Park(nil)
	}
}

// flush does what a task loop does between records.
func (o *outlet) flush() {
	now := time.Since(o.clock)
	if at, pending := o.FlushDue(); pending && at <= now {
		o.Flush(now)
	}
}

// drain flushes until nothing is open.
func (o *outlet) drain() {
	for at, pending := o.FlushDue(); pending; at, pending = o.FlushDue() {
		time.Sleep(at - time.Since(o.clock))
		o.flush()
	}
}

func (o *outlet) finish() {
	o.Finish()
	o.Close()
}

// inlet is a gate with the parker of the goroutine that reads it.
type inlet struct {
	*netstack.Gate
	parker *netstack.Parker
}

func newInlet(o netstack.GateOptions) (*inlet, error) {
	parker := netstack.NewParker()
	o.Name, o.Waker, o.Clock = "reader", parker, perf.NewClock()
	g, err := netstack.NewGate(o)
	return &inlet{Gate: g, parker: parker}, err
}

// each calls f with every buffer, and its channel, until all channels have ended.
func (in *inlet) each(f func(channel int, payload []byte)) {
	defer in.Close()
	for in.Open() > 0 {
		it, ok := in.Next()
		if !ok {
			in.parker.Park(nil)
			continue
		}
		if it.Event == nil {
			f(it.Channel, it.Buf.Payload())
			it.Buf.Release()
			in.Done(it.Channel)
		}
	}
}
