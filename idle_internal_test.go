//go:build linux

package overtake

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/internal/invariant"
)

// idleJob has a source that goes on as long as it is told to, a sink that can be held up, and
// room for much in between.
type idleJob struct {
	t      *testing.T
	values chan uint64
	slow   atomic.Bool
	handle *Handle
	cancel context.CancelFunc
	over   chan struct{} // closed when nobody feeds the source any more
}

func startIdleJob(t *testing.T) *idleJob {
	t.Helper()
	if invariant.Enabled {
		t.Skip("poison needs memory")
	}
	j := &idleJob{t: t, values: make(chan uint64, 1024), over: make(chan struct{})}
	o := Options{Parallelism: 4}
	o.Network = Network{InFlightTime: 20 * time.Millisecond, Memory: 16 << 20}
	job := NewJob("idle", o)
	job.freeEvery = 20 * time.Millisecond
	in := From(job, memory.Channel(j.values), WithParallelism(1))
	spread := Map(in.Rebalance(), func(v uint64) [16]uint64 { return [16]uint64{v} })
	To(spread.Rebalance(), memory.Func(func([16]uint64) error {
		for begin := time.Now(); j.slow.Load() && time.Since(begin) < 40*time.Microsecond; {
		}
		return nil
	}), WithParallelism(1))
	ctx, cancel := context.WithCancel(t.Context())
	h, err := job.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	j.handle, j.cancel = h, cancel
	return j
}

// feed keeps the source busy until stop is closed.
func (j *idleJob) feed(stop <-chan struct{}) {
	defer close(j.over)
	for v := uint64(0); ; v++ {
		select {
		case j.values <- v:
		case <-stop:
			return
		}
	}
}

// until waits until the resident memory fits.
func (j *idleJob) until(what string, fits func(resident int64) bool) int64 {
	j.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		n := j.handle.Snapshot().Buffers.ResidentBytes
		if fits(n) {
			return n
		}
		if time.Now().After(deadline) {
			j.t.Errorf("%s: %d bytes of network memory are resident:\n%v", what, n, j.handle.Buffers())
			return n
		}
	}
}

func (j *idleJob) end() {
	j.cancel()
	if err := j.handle.Wait(); !errors.Is(err, context.Canceled) {
		j.t.Error(err)
	}
}

// A job that has nothing to do gives the memory back that its buffers had.
func TestAnIdleJobGivesNetworkMemoryBack(t *testing.T) {
	defer goleak.VerifyNone(t)
	j := startIdleJob(t)
	defer j.end()
	stop := make(chan struct{})
	j.slow.Store(true) // fills the queues
	go j.feed(stop)
	// What its pools' owners have within their own reach stays.
	own := int64(0)
	b := j.handle.Snapshot().Buffers
	for _, p := range b.Pools {
		own += int64(p.Min * b.SegmentBytes)
	}
	j.until("busy", func(n int64) bool { return n > own+512<<10 })
	close(stop)
	<-j.over
	j.slow.Store(false)
	j.until("idle", func(n int64) bool { return n <= own })
	if j.handle.Snapshot().Buffers.FreedBytes == 0 {
		t.Error("nothing was given back")
	}
}

// A job whose consumers have become slow fills its buffers less far, and gives back what is
// behind.
func TestAJobThatIsHeldUpGivesNetworkMemoryBack(t *testing.T) {
	defer goleak.VerifyNone(t)
	j := startIdleJob(t)
	defer j.end()
	stop := make(chan struct{})
	go j.feed(stop)
	defer func() { close(stop); <-j.over }()
	looks := 0
	full := j.until("full", func(n int64) bool {
		j.slow.Store(looks&256 == 0) // if it was slow from the start, buffers have never been large
		looks++
		return n > 1536<<10
	})
	j.slow.Store(true)
	j.until("slow", func(n int64) bool { return n < full/2 })
	if n := j.handle.Buffers().InUse; n < 20 {
		t.Errorf("%d buffers are in use, though the job is held up", n)
	}
}
