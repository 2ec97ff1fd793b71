package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// Cost is what a transfer between two workers of this process cost, in counts that do not
// depend on how fast the machine is.
type Cost struct {
	Bytes  int64  // payload moved
	Writes uint64 // system calls of the sender, for data
	Reads  uint64 // of the receiver
	Frames uint64 // that the sender sent: data, mostly
	Back   uint64 // that the receiver sent: credit, mostly
}

// PerMB is a count for each million bytes of payload.
func (c Cost) PerMB(count uint64) float64 { return float64(count) / (float64(c.Bytes) / 1e6) }

// Transfer moves bytes of whole buffers over loopback TCP, through so many channels with
// so many credits each, and counts.
func Transfer(ctx context.Context, bytes int64, channels, credits int) (c Cost, err error) {
	w := wire{Bytes: bytes, Writers: 1, Channels: channels, Readers: 1, Window: credits, Memory: 64 << 20}
	addrs, err := FreeAddresses(2)
	if err != nil {
		return c, err
	}
	failed := make(chan error, 8)
	fail := func(err error) { failed <- err }
	a, from, err := w.stack(0, addrs, fail, func() {})
	if err != nil {
		return c, err
	}
	b, to, err := w.stack(1, addrs, fail, func() {})
	if err != nil {
		return c, err
	}
	out, err := newOutlet(from, netstack.PartitionOptions{Subpartitions: channels, Exclusive: max(2, credits/2), MaxQueued: max(netstack.DefaultMaxQueued, credits), FlushInterval: 100 * time.Millisecond})
	if err != nil {
		return c, err
	}
	in, err := newInlet(netstack.GateOptions{Inputs: []int{channels}, Exclusive: credits})
	if err != nil {
		return c, err
	}
	for ch := range channels {
		if err := errors.Join(a.BindOut(1, uint32(1+ch), out.Partition, ch), b.BindIn(0, uint32(1+ch), in.Gate, ch)); err != nil {
			return c, err
		}
	}
	started := make(chan error, 1)
	go func() { started <- b.Start(ctx) }()
	if err := errors.Join(a.Start(ctx), <-started); err != nil {
		return c, err
	}
	before, after := a.Stats(), b.Stats()
	var writing sync.WaitGroup
	writing.Go(func() { w.write(out, nil) })
	in.each(func(_ int, payload []byte) { c.Bytes += int64(len(payload)) })
	writing.Wait()
	sent, received := a.Stats(), b.Stats()
	c.Writes, c.Frames = sent.Writes-before.Writes, sent.FramesOut-before.FramesOut
	c.Reads, c.Back = received.Reads-after.Reads, received.FramesOut-after.FramesOut
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	err = errors.Join(b.Close(), <-closed, from.Close(), to.Close())
	if want := bytes - bytes%int64(out.MaxRecord()); c.Bytes != want {
		err = errors.Join(err, fmt.Errorf("bench: %d bytes arrived of %d", c.Bytes, want))
	}
	return c, err
}

// HandoffCost is the processor time of one record that is handed to another goroutine in
// batches, by Overtake and by hand, in seconds.
func HandoffCost(ctx context.Context, size Size) (ours, byHand float64, err error) {
	for _, side := range []struct {
		run  Measure
		cost *float64
	}{{batches(1), &ours}, {handBatches(1), &byHand}} {
		before := CPUSeconds()
		if _, err := side.run(ctx, size); err != nil {
			return 0, 0, err
		}
		*side.cost = (CPUSeconds() - before) / float64(size.Of(20_000_000))
	}
	return ours, byHand, nil
}

// HandoffAllocations is the heap allocations per record of the same.
func HandoffAllocations(ctx context.Context, size Size) (float64, error) {
	return allocations(20_000_000, batches(1))(ctx, size)
}
