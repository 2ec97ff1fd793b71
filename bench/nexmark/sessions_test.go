package nexmark_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/nexmark"
	"github.com/overtake-stream/overtake/checkpoint"
)

// The windows of q12 add up whatever the clock says, also when it ends many of them and the
// job fails in the middle.
func TestWindowsOfProcessingTimeAddUp(t *testing.T) {
	list, err := nexmark.Find([]string{"q12"})
	if err != nil {
		t.Fatal(err)
	}
	g := generator(t, small(1))
	w := want(t, list[0], g)
	for _, step := range []time.Duration{0, 10 * time.Millisecond, time.Second, 15 * time.Second} {
		var clock atomic.Int64
		opts := engine(2)
		opts.Clock = func() time.Time { return time.UnixMilli(clock.Add(step.Milliseconds())) }
		opts.Restart = overtake.Restart{Attempts: 1, Delay: time.Millisecond}
		opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: time.Millisecond, Mode: overtake.Unaligned}
		var out nexmark.Output
		pull := plug{after: g.Events() / 3}
		h, err := list[0].Job(g, nexmark.Setup{Engine: opts, Output: &out, Check: pull.check, Pace: nexmark.Pace{Rate: 30_000}}).Start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		pull.job.Store(h)
		if err := h.Wait(); err != nil {
			t.Fatal(err)
		}
		if r := out.Result(); r != w || h.Restarts() != 1 {
			t.Errorf("a step of %v: %v after %d restarts, want %v after 1", step, r, h.Restarts(), w)
		}
	}
}
