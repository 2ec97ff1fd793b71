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

// say sends one message.
func (e *loopEnds) say() {
	e.out.ready()
	e.out.Space(0, pingSize)
	e.out.Commit(0, pingSize)
	e.out.Flush(time.Since(e.out.clock))
}

// hear waits for one. It returns false at the end.
func (e *loopEnds) hear() bool {
	for {
		it, ok := e.in.Next()
		if !ok {
			e.in.parker.Park(nil)
			continue
		}
		if it.Event != nil {
			return false
		}
		it.Buf.Release()
		e.in.Done(it.Channel)
		return true
	}
}

func (e *loopEnds) close() error {
	e.out.finish()
	for e.hear() {
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
	for e.hear() {
		r.Bytes += pingSize
		e.say()
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
			e.say()
			if !e.hear() {
				return errors.New("bench: the echo has ended")
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
