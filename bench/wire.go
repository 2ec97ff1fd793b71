package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
)

// wire is a bulk transfer between two workers.
type wire struct {
	Bytes    int64         // payload to move
	Writers  int           // goroutines that write, each to Channels channels
	Channels int           // of each writer
	Readers  int           // goroutines that read; each has an equal share of all channels
	Window   int           // exclusive buffers of a channel at the receiver
	Record   int           // bytes of a record; 0: a whole buffer
	Flush    time.Duration // interval
	Memory   int64         // bytes of buffers of each side
	Hogs     int           // goroutines that compute beside, on each side (echo only)
	Halves   bool          // each side uses half of the processors; else all
	Stalled  bool          // one more channel, full, whose reader does not read until the end

	Transport string   // default TCP
	Identity  identity // for TLS

	Pressure pressure.Config // on channels and readers
}

func (w wire) total() int { return w.Writers * w.Channels }

func (w wire) stack(index int, addrs []string, failed func(error), heard func()) (*netstack.Stack, *bufferpool.Arena, error) {
	arena, err := bufferpool.New(bufferpool.Options{Budget: w.Memory, Prefault: w.Memory <= 128<<20})
	if err != nil {
		return nil, nil, err
	}
	o := netstack.StackOptions{
		Arena: arena, Index: index, Peers: addrs, Network: w.network(), Job: "bench", ConnectTimeout: 20 * time.Second,
		OnControl: func(int, []byte) { heard() }, OnFailure: failed,
	}
	if w.Transport == overTLS {
		if o.TLS, err = w.Identity.config(); err != nil {
			return nil, nil, err
		}
	}
	s, err := netstack.NewStack(o)
	return s, arena, err
}

// sent is what the writers' side has seen.
type sent struct {
	elapsed time.Duration // until the receiver had everything
	cpu     float64       // seconds
	flow    flow
}

// send is the writers' side.
func (w wire) send(ctx context.Context, addrs []string) (r sent, err error) {
	done, failed := make(chan struct{}), make(chan error, 2)
	s, arena, err := w.stack(0, addrs, func(err error) { failed <- err }, func() { close(done) })
	if err != nil {
		return r, err
	}
	outs := make([]*outlet, w.Writers)
	for i := range outs {
		outs[i], err = newOutlet(arena, w.partition(max(netstack.DefaultMaxQueued, w.Window), max(2, w.Window/2)))
		if err != nil {
			return r, err
		}
		for sub := range w.Channels {
			if err := s.BindOut(1, uint32(1+i*w.Channels+sub), outs[i].Partition, sub); err != nil {
				return r, err
			}
		}
	}
	stuck, err := w.stuckOutlet(arena, s)
	if err != nil {
		return r, err
	}
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	stuck.fill()
	turn := w.turn()
	start, used := time.Now(), CPUSeconds()
	var writers sync.WaitGroup
	for _, o := range outs {
		writers.Go(func() { w.write(o, turn) })
	}
	writers.Wait()
	stuck.end()
	select {
	case <-done:
	case err := <-failed:
		return r, err
	}
	r.elapsed, r.cpu = time.Since(start), CPUSeconds()-used
	for _, o := range outs {
		r.flow.add(o)
	}
	return r, errors.Join(s.Close(), arena.Close())
}

// write writes one writer's share, to its channels in turn, or as turn says if it is not nil.
func (w wire) write(o *outlet, turn func(n uint64) uint64) {
	size := w.Record
	if size == 0 {
		size = o.MaxRecord()
	}
	count := w.Bytes / int64(w.Writers*size)
	sub := 0
	for n := range count {
		if turn != nil {
			sub = int(turn(uint64(n)))
		}
		o.ready()
		o.Space(sub, size)
		o.Commit(sub, size)
		if sub++; sub == w.Channels {
			sub = 0
		}
		if n%1024 == 1023 {
			o.flush()
		}
	}
	o.finish()
}

// receive is the readers' side.
func (w wire) receive(ctx context.Context, addrs []string) (r report, err error) {
	failed := make(chan error, 2)
	s, arena, err := w.stack(1, addrs, func(err error) { failed <- err }, func() {})
	if err != nil {
		return r, err
	}
	ins := make([]*inlet, w.Readers)
	each := w.total() / w.Readers
	for i := range ins {
		if ins[i], err = newInlet(w.gate(each)); err != nil {
			return r, err
		}
		for ch := range each {
			if err := s.BindIn(0, uint32(1+i*each+ch), ins[i].Gate, ch); err != nil {
				return r, err
			}
		}
	}
	stuck, err := w.stuckInlet(s)
	if err != nil {
		return r, err
	}
	if err := s.Start(ctx); err != nil {
		return r, err
	}
	used := CPUSeconds()
	var readers sync.WaitGroup
	delays := w.Pressure.Delays()
	counts := make([]int64, w.total()) // bytes, by channel
	for i, in := range ins {
		readers.Go(func() {
			own := counts[i*each:][:each]
			in.each(func(channel int, payload []byte) {
				own[channel] += int64(len(payload))
				delays.Wait(w.records(payload), i, len(ins), nil)
			})
		})
	}
	readers.Wait()
	if stuck != nil {
		stuck.each(func(int, []byte) {})
	}
	r.CPU, r.Busiest, r.Stalls = CPUSeconds()-used, slices.Max(counts), delays.Stalls()
	for _, n := range counts {
		r.Bytes += n
	}
	return r, errors.Join(s.Control(0, []byte("done")), s.Close(), arena.Close())
}

// measure returns payload bytes per second, and seconds of processor time of both
// sides per byte.
func (w wire) measure(ctx context.Context) (rate, cost float64, err error) {
	m, err := w.move(ctx)
	return m.rate, m.cost, err
}

// move is measure with all that was seen.
func (w wire) move(ctx context.Context) (m moved, err error) {
	defer w.takeProcessors()()
	var s sent
	r, err := task{Role: "sink", Wire: w}.with(ctx, func(addrs []string) (err error) {
		s, err = w.send(ctx, addrs)
		return err
	})
	if err != nil {
		return m, err
	}
	if low := w.Bytes - int64(w.Writers)*(32<<10); r.Bytes < low || r.Bytes > w.Bytes {
		return m, fmt.Errorf("bench: %d bytes arrived of %d", r.Bytes, w.Bytes)
	}
	return moved{
		rate: float64(r.Bytes) / s.elapsed.Seconds(), cost: (s.cpu + r.CPU) / float64(r.Bytes),
		busiest: float64(r.Busiest) / float64(r.Bytes), stalls: r.Stalls, flow: s.flow,
	}, nil
}

// takeProcessors sets how many processors the Go scheduler of this process uses.
// Two processes that share a machine do best with half of them each: more would
// only wake threads that find nothing to do.
func (w wire) takeProcessors() (restore func()) {
	if !w.Halves {
		return func() {}
	}
	before := runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	return func() { runtime.GOMAXPROCS(before) }
}

// raw is measure for a plain connection, written and read call bytes at a time.
func (w wire) raw(ctx context.Context, call int64) (rate, cost float64, err error) {
	var elapsed time.Duration
	var cpu float64
	w.Record = int(call)
	r, err := task{Role: "raw", Wire: w}.with(ctx, func(addrs []string) (err error) {
		if w.Transport == overTLS {
			elapsed, cpu, err = w.connSend(addrs[1], w.Bytes, call)
		} else {
			elapsed, cpu, err = rawSend(addrs[1], w.Bytes, call)
		}
		return err
	})
	return float64(r.Bytes) / elapsed.Seconds(), (cpu + r.CPU) / float64(r.Bytes), err
}
