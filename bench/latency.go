package bench

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/perf"
)

var errEchoEnded = errors.New("bench: the echo has ended early")

// pingSize is the size of a message there and back, in bytes.
const pingSize = 64

// loopEnds are the ends of one channel there and one back, on either side.
type loopEnds struct {
	stack *netstack.Stack
	arena *bufferpool.Arena
	out   *outlet
	in    *inlet
}

func (w wire) loopEnds(ctx context.Context, index int, addrs []string) (e loopEnds, err error) {
	if e.stack, e.arena, err = w.stack(index, addrs, func(error) {}, func() {}); err != nil {
		return e, err
	}
	if e.out, err = newOutlet(e.arena, netstack.PartitionOptions{Subpartitions: 1}); err != nil {
		return e, err
	}
	if e.in, err = newInlet(netstack.GateOptions{Inputs: []int{1}}); err != nil {
		return e, err
	}
	peer := 1 - index
	err = errors.Join(
		e.stack.BindOut(peer, uint32(1+index), e.out.Partition, 0),
		e.stack.BindIn(peer, uint32(1+peer), e.in.Gate, 0),
		e.stack.Start(ctx))
	return e, err
}

// say sends count messages, in one buffer if there is nothing on the way. A flush
// leaves open what is behind queued data: what says must flush again when that is due.
func (e *loopEnds) say(count int) {
	for range count {
		e.out.ready()
		e.out.Space(0, pingSize)
		e.out.Commit(0, pingSize)
	}
	e.out.Flush(time.Since(e.out.clock))
}

// hear waits for messages and returns how many have come: none at the end.
// Meanwhile it flushes, so it is for the goroutine that also says.
func (e *loopEnds) hear() int { return e.await(e.parkAndFlush) }

// await is hear with a way to wait.
func (e *loopEnds) await(park func()) int {
	for {
		it, ok := e.in.Next()
		if !ok {
			park()
			continue
		}
		if it.Event != nil {
			return 0
		}
		n := len(it.Buf.Payload()) / pingSize
		it.Buf.Release()
		e.in.Done(it.Channel)
		return n
	}
}

// parkAndFlush waits as a task loop does, for input or until a flush is due.
func (e *loopEnds) parkAndFlush() {
	at, pending := e.out.FlushDue()
	if !pending {
		e.in.parker.Park(nil)
		return
	}
	timer := time.NewTimer(at - time.Since(e.out.clock))
	e.in.parker.Park(timer.C)
	timer.Stop()
	e.out.flush()
}

func (e *loopEnds) close() error {
	e.out.finish()
	for e.hear() > 0 {
	}
	e.in.Close()
	return errors.Join(e.stack.Close(), e.arena.Close())
}

// echo answers every message.
func (w wire) echo(ctx context.Context, addrs []string) (r report, err error) {
	e, err := w.loopEnds(ctx, 1, addrs)
	if err != nil {
		return r, err
	}
	stop := hog(w.Hogs)
	for n := e.hear(); n > 0; n = e.hear() {
		e.say(n)
		r.Bytes += int64(n) * pingSize
	}
	stop()
	e.out.finish()
	e.in.Close()
	return r, errors.Join(e.stack.Close(), e.arena.Close())
}

// roundTrips measures count messages there and back, one at a time.
func (w wire) roundTrips(ctx context.Context, count int64, into *perf.Histogram) error {
	_, err := task{Role: "echo", Wire: w}.with(ctx, func(addrs []string) error {
		e, err := w.loopEnds(ctx, 0, addrs)
		if err != nil {
			return err
		}
		stop := hog(w.Hogs)
		for i := range count + count/10 {
			start := time.Now()
			e.say(1)
			if e.hear() == 0 {
				return errEchoEnded
			}
			if i >= count/10 { // warm by now
				into.Record(int64(time.Since(start)))
			}
		}
		stop()
		return e.close()
	})
	return err
}

// openLoop sends count messages at a rate, and hears as many.
func (w wire) openLoop(ctx context.Context, rate float64, count int64, into *perf.Histogram) error {
	_, err := task{Role: "echo", Wire: w}.with(ctx, func(addrs []string) error {
		e, err := w.loopEnds(ctx, 0, addrs)
		if err != nil {
			return err
		}
		load := NewOpenLoop(rate, PreciseSleep)
		heard := make(chan error)
		go func() { heard <- e.hearAll(load, count, into) }()
		for range count {
			load.Next()
			e.say(1)
		}
		e.out.drain()
		return errors.Join(<-heard, e.close())
	})
	return err
}

// hearAll hears count messages of a load whose other side another goroutine says.
func (e *loopEnds) hearAll(load *OpenLoop, count int64, into *perf.Histogram) error {
	for n := int64(0); n < count; {
		more := e.await(func() { e.in.parker.Park(nil) })
		if more == 0 {
			return errEchoEnded
		}
		for range more {
			load.Arrived(n, into)
			n++
		}
	}
	return nil
}

// hog makes n goroutines compute as a busy subtask does: for about 50 µs at a time
// before it lets others run, as the task loop does.
func hog(n int) (stop func()) {
	var stopped atomic.Bool
	var result atomic.Uint64 // keeps the compiler from dropping the work
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			x := uint64(1)
			for !stopped.Load() {
				for start := time.Now(); time.Since(start) < 50*time.Microsecond; {
					for range 100 {
						x = x*6364136223846793005 + 1
					}
				}
				runtime.Gosched()
			}
			result.Add(x)
		})
	}
	return func() {
		stopped.Store(true)
		running.Wait()
	}
}

// RoundTrips measures count messages of 64 bytes to another process and back, one at a
// time, over loopback TCP: into gets each, in nanoseconds. Programs call Child first.
func RoundTrips(ctx context.Context, count int64, into *perf.Histogram) error {
	return wire{Memory: 16 << 20}.roundTrips(ctx, count, into)
}
