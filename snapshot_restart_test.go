package overtake_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/memory"
)

// Whoever watches a job need not know in which of its attempts it is, or whether it has
// begun or ended.
func TestSnapshotsWhileAJobFailsDrainsOrIsCancelled(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, end := range map[string]func(h *overtake.Handle, cancel func()){
		"ends":      func(*overtake.Handle, func()) {},
		"drained":   func(h *overtake.Handle, _ func()) { h.Drain() },
		"cancelled": func(_ *overtake.Handle, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			opts := small(2)
			opts.LatencyMarkers = time.Millisecond
			opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 2 * time.Millisecond, Mode: overtake.Auto, MaxConcurrent: 2}
			opts.Restart = overtake.Restart{Attempts: 100, Delay: time.Millisecond}
			var sink memory.Committed[count]
			job := countJob(opts, 5_000, 17, newFaulty(7, 3, 2_000), &sink, nil)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			h, err := job.Start(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var watching sync.WaitGroup
			for range 2 {
				watching.Go(func() {
					for more := true; more; {
						select {
						case <-h.Done():
							more = false
						case <-time.After(time.Millisecond):
						}
						s := h.Snapshot()
						if _, err := json.Marshal(s); err != nil {
							t.Error(err)
						}
						h.Stats()
						h.Buffers()
					}
				})
			}
			for h.Restarts() == 0 {
				select {
				case <-h.Done():
					t.Fatal(h.Wait())
				case <-time.After(time.Millisecond):
				}
			}
			end(h, cancel)
			if err := h.Wait(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			watching.Wait()
			if s := h.Snapshot(); !s.Ended || s.Restarts == 0 || s.Buffers.InUse != 0 {
				t.Errorf("after the end: %+v", s)
			}
		})
	}
}
