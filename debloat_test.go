package overtake_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
)

// pressed runs a source that its sink holds up until enough is true of what the edge has
// sent since the last look.
func pressed(t *testing.T, inFlight time.Duration, enough func(buffers, bytes uint64) bool) {
	t.Helper()
	needsAccount(t)
	defer goleak.VerifyNone(t)
	o := overtake.Options{Parallelism: 1}
	o.Network.InFlightTime = inFlight
	job := overtake.NewJob("pressed", o)
	in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: generate.Forever}))
	overtake.To(in.Rebalance(), memory.Func(func(uint64) error {
		for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; { // it is slow
		}
		return nil
	}), overtake.WithParallelism(1))
	ctx, cancel := context.WithCancel(t.Context())
	h, err := job.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var last perf.Traffic
	for deadline := time.Now().Add(20 * time.Second); ; {
		now := h.Snapshot().Edges[0].Received
		if n := now.Buffers - last.Buffers; n >= 20 {
			if enough(n, now.Bytes-last.Bytes) {
				break
			}
			last = now
		}
		if time.Now().After(deadline) {
			t.Errorf("after %d buffers and %d bytes, nothing has changed", now.Buffers, now.Bytes)
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := h.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A job that is held up sends less in a buffer if it has been told for how long records may
// be in flight.
func TestBuffersOfAJobThatIsHeldUpShrink(t *testing.T) {
	pressed(t, 50*time.Millisecond, func(buffers, bytes uint64) bool { return bytes/buffers < 8<<10 })
}
