package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/perf"
)

// outlet is a partition with the parker of the goroutine that fills it.
type outlet struct {
	*netstack.Partition
	parker *netstack.Parker
}

func newOutlet(arena *bufferpool.Arena, receivers int) (outlet, error) {
	parker := netstack.NewParker()
	p, err := netstack.NewPartition(arena, netstack.PartitionOptions{
		Name: "writer", Subpartitions: receivers, Waker: parker, Wait: func() { parker.Park(nil) },
	})
	return outlet{p, parker}, err
}

// number writes a record of 8 bytes to a receiver.
func (o outlet) number(to int, v uint64) {
	for !o.Available() {
		o.Await()
		o.parker.Park(nil)
	}
	b := o.Space(to, record.HeaderSize+8)
	binary.LittleEndian.PutUint64(b[record.HeaderSize:], v)
	o.Commit(to, record.Seal(b, record.Data, 0, false, 0, 8))
}

// inlet is a gate of one channel with the parker of the goroutine that reads it.
type inlet struct {
	*netstack.Gate
	parker *netstack.Parker
}

func newInlet() (inlet, error) {
	parker := netstack.NewParker()
	g, err := netstack.NewGate(netstack.GateOptions{Name: "reader", Waker: parker, Inputs: []int{1}})
	return inlet{g, parker}, err
}

// next calls f with the numbers of one buffer. It returns false when the input has ended.
func (in inlet) next(f func(v uint64)) bool {
	var r record.Record
	for in.Open() > 0 {
		it, ok := in.Next()
		if !ok {
			in.parker.Park(nil)
			continue
		}
		if it.Event != nil {
			continue
		}
		all := record.Over(it.Buf.Payload())
		for {
			ok, err := all.Next(&r)
			if !ok || err != nil {
				break
			}
			f(binary.LittleEndian.Uint64(r.Payload))
		}
		it.Buf.Release()
		in.Done(it.Channel)
		return true
	}
	return false
}

// handoff moves numbers from one goroutine to another, or to several of which each gets its
// own, in buffers of records.
func handoff(_ context.Context, p Params, out func(Line)) error {
	n, receivers := uint64(p.Int("records")), int(p.Int("consumers"))
	if _, err := handedOver(n/4, receivers); err != nil {
		return err
	}
	cpu, start := cpuTime(), time.Now()
	t, err := handedOver(n, receivers)
	took := time.Since(start)
	if err != nil {
		return err
	}
	out(Line{Metric: "time", Unit: "s/record", Value: took.Seconds() / float64(n), Records: int64(n), Check: t.String(),
		Settings: map[string]any{"consumers": receivers, "buffer": "32 KiB", "queued_buffers": 10, "wait": "park"}})
	out(Line{Metric: "cpu", Unit: "s/record", Value: (cpuTime() - cpu).Seconds() / float64(n), Records: int64(n)})
	return nil
}

func handedOver(n uint64, receivers int) (*total, error) {
	arena, err := bufferpool.New(bufferpool.Options{Prefault: true})
	if err != nil {
		return nil, err
	}
	out, err := newOutlet(arena, receivers)
	if err != nil {
		return nil, err
	}
	t := &total{}
	var readers sync.WaitGroup
	for i := range receivers {
		in, err := newInlet()
		if err != nil {
			return nil, err
		}
		netstack.ConnectLocal(out.Partition, i, in.Gate, 0)
		readers.Go(func() {
			defer in.Close()
			var s share
			for in.next(func(v uint64) { s.Records++; s.Check += v }) {
			}
			_ = t.add(s)
		})
	}
	for i := range n {
		v := spread(i)
		out.number(int(v)&(receivers-1), v)
	}
	out.Finish()
	out.Close()
	readers.Wait()
	return t, arena.Close()
}

// hops measures how long a record takes from one worker to the next.
func hops(ctx context.Context, p Params, out func(Line)) error {
	limit := time.Duration(p.Int("millis")) * time.Millisecond
	settings := map[string]any{"workers": p.Int("workers"), "processes": p.Int("processes"), "flush": "each record"}
	var n int64
	var took time.Duration
	var err error
	switch {
	case p.Int("processes") > 1:
		settings["bytes"] = 64
		n, took, err = remoteHops(ctx, limit)
	default:
		for _, limit := range []time.Duration{limit / 4, limit} { // the first warms up
			if n, took, err = localHops(limit, p.Int("workers") > 1); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	out(Line{Metric: "iteration", Unit: "s", Value: took.Seconds() / float64(n), Records: n, Settings: settings})
	return nil
}

// remoteHops sends messages to another process and back, one at a time. A round trip is
// two hops.
func remoteHops(ctx context.Context, limit time.Duration) (n int64, took time.Duration, err error) {
	for count := int64(200); took < limit; count *= 2 {
		var h perf.Histogram
		if err := bench.RoundTrips(ctx, count, &h); err != nil {
			return 0, 0, err
		}
		s := h.Snapshot()
		n, took = 2*int64(s.Count()), time.Duration(s.Mean()*float64(s.Count()))
	}
	return n, took, nil
}

// loop is a worker's way to the next one, and from the one before.
type loop struct {
	out   outlet
	in    inlet
	clock time.Time
}

func (l loop) say(v uint64) {
	l.out.number(0, v)
	l.out.Flush(time.Since(l.clock))
}

// localHops lets a record go round, on one goroutine or between two.
func localHops(limit time.Duration, two bool) (n int64, took time.Duration, err error) {
	arena, err := bufferpool.New(bufferpool.Options{})
	if err != nil {
		return 0, 0, err
	}
	workers := make([]loop, 1, 2)
	if two {
		workers = workers[:2]
	}
	for i := range workers {
		out, e1 := newOutlet(arena, 1)
		in, e2 := newInlet()
		if err := errors.Join(e1, e2); err != nil {
			return 0, 0, err
		}
		workers[i] = loop{out, in, time.Now()}
	}
	for i, w := range workers {
		netstack.ConnectLocal(w.out.Partition, 0, workers[(i+1)%len(workers)].in.Gate, 0)
	}
	start := time.Now()
	var running sync.WaitGroup
	for i := range workers[1:] {
		running.Go(func() { workers[1+i].serve(func(uint64) bool { return true }) })
	}
	last := uint64(0)
	workers[0].say(1)
	workers[0].serve(func(v uint64) bool { last = v; return time.Since(start) < limit })
	running.Wait()
	return int64(last), time.Since(start), arena.Close()
}

// serve passes on what comes, one more each time, until on says no or the input ends.
func (l loop) serve(on func(v uint64) bool) {
	more := true
	for more && l.in.next(func(v uint64) {
		if more = on(v); more {
			l.say(v + 1)
		}
	}) {
	}
	l.out.Finish()
	l.out.Close()
	for l.in.next(func(uint64) {}) {
	}
	l.in.Close()
}
