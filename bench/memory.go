package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// stopped fills 1,000 channels whose reader has stopped, and returns the most memory
// that the buffers of both sides took, as a share of the budget. Then the reader
// goes on, and in the end nothing may be held.
func stopped(ctx context.Context, _ Size) (float64, error) {
	w := wire{Channels: 1000, Memory: 128 << 20}
	addrs, err := FreeAddresses(2)
	if err != nil {
		return 0, err
	}
	a, from, err := w.stack(0, addrs, func(error) {}, func() {})
	if err != nil {
		return 0, err
	}
	b, to, err := w.stack(1, addrs, func(error) {}, func() {})
	if err != nil {
		return 0, err
	}
	out, err := newOutlet(from, netstack.PartitionOptions{Subpartitions: w.Channels})
	if err != nil {
		return 0, err
	}
	in, err := newInlet(netstack.GateOptions{Inputs: []int{w.Channels}})
	if err != nil {
		return 0, err
	}
	for ch := range w.Channels {
		if err := errors.Join(a.BindOut(1, uint32(1+ch), out.Partition, ch), b.BindIn(0, uint32(1+ch), in.Gate, ch)); err != nil {
			return 0, err
		}
	}
	started := make(chan error, 1)
	go func() { started <- b.Start(ctx) }()
	if err := errors.Join(a.Start(ctx), <-started); err != nil {
		return 0, err
	}
	records, bytes, peak := 0, 0, 0
	for idle := 0; idle < 20; { // until nothing has moved for 200 ms
		if !out.Available() {
			peak = max(peak, from.Held(), to.Held())
			time.Sleep(10 * time.Millisecond)
			idle++
			continue
		}
		idle = 0
		out.Space(records%w.Channels, 4096)
		out.Commit(records%w.Channels, 4096)
		records++
	}
	finished := make(chan struct{})
	go func() {
		out.finish()
		close(finished)
	}()
	in.each(func(_ int, payload []byte) { bytes += len(payload) })
	<-finished
	if bytes != records*4096 {
		return 0, fmt.Errorf("bench: %d bytes arrived of %d", bytes, records*4096)
	}
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	err = errors.Join(b.Close(), <-closed, from.Close(), to.Close()) // a leak is an error
	return float64(peak) / float64(from.Segments()), err
}

// allocations is the number of heap allocations per record of a measurement over
// records of them, less those of its construction.
func allocations(records int64, f Measure) Measure {
	return func(ctx context.Context, size Size) (float64, error) {
		few, err := mallocs(ctx, f, 10*size)
		if err != nil {
			return 0, err
		}
		many, err := mallocs(ctx, f, size)
		rate := max(0, many-few) / float64(size.Of(records)-(10*size).Of(records))
		// What the runtime itself allocates now and then is less than one in ten thousand.
		if rate < 1e-4 {
			rate = 0
		}
		return rate, err
	}
}

func mallocs(ctx context.Context, f Measure, size Size) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := f(ctx, size)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), err
}
