package perfcost

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// notAttached is the name of the baseline.
const notAttached = "not attached"

// An Observer looks at a process for a while, or until ctx ends. It calls attached once it
// does. The error says why it cannot.
type Observer func(ctx context.Context, pid int, d time.Duration, attached func()) error

const (
	windowLength = 2 * time.Second        // of a measurement
	settling     = 200 * time.Millisecond // after an observer has come or gone, not measured
)

// duel compares one running job with itself, while it is observed and while it is not, in
// turn: so both sides have the same process, memory and connections.
type duel struct {
	program string
	work    Work
	observe Observer

	child *child // nil before the first window

	with, without outcomes // of windows: observed, and not
}

// side returns a figure of each window of a side.
func (d *duel) side(observed bool, figure func(Outcome) float64) bench.Measure {
	all := &d.without
	if observed {
		all = &d.with
	}
	return all.figure(figure, func(ctx context.Context, s bench.Size) (Outcome, error) {
		return d.window(ctx, observed, length(s))
	})
}

// length is that of a window: a quick run has fewer of them, and none that is shorter. Tests
// do.
func length(s bench.Size) time.Duration { return windowLength * 10 / time.Duration(max(10, s)) }

// window is what happens in a window.
func (d *duel) window(ctx context.Context, observed bool, length time.Duration) (o Outcome, err error) {
	if d.child == nil {
		if d.child, err = start(ctx, d.program, d.work); err != nil {
			return o, err
		}
		if _, err := d.child.sample(); err != nil { // it runs by then
			return o, err
		}
	}
	if observed {
		stop, err := d.attach(ctx)
		if err != nil {
			return o, err
		}
		o, err = d.child.between(ctx, length)
		if e := stop(); err == nil {
			err = e
		}
		return o, err
	}
	return d.child.between(ctx, length)
}

// attach starts the observer, and waits until it looks.
func (d *duel) attach(ctx context.Context) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ended, attached := make(chan error, 1), make(chan struct{})
	pid := d.child.cmd.Process.Pid
	go func() { ended <- d.observe(ctx, pid, time.Hour, func() { close(attached) }) }()
	select {
	case <-attached:
		return func() error { cancel(); return <-ended }, nil
	case err := <-ended:
		cancel()
		return nil, fmt.Errorf("perfcost: the observer has ended: %w", err)
	}
}

// end ends the job.
func (d *duel) end() error {
	if d.child == nil {
		return nil
	}
	return d.child.end()
}

// cases are the cases of what an observer costs a job.
func (d *duel) cases() (list []bench.Case) {
	for _, c := range []struct {
		bench.Case
		figure func(o Outcome) float64
		goal   float64
	}{
		{bench.Case{Name: "ebpf/throughput", Metric: "throughput", Unit: "records/s", Better: bench.Higher},
			func(o Outcome) float64 { return float64(o.Read) / o.Seconds }, 0.97},
		{bench.Case{Name: "ebpf/cpu", Metric: "cpu", Unit: "s/record", Better: bench.Lower},
			func(o Outcome) float64 { return o.CPU / float64(max(1, o.Read)) }, 1.03},
	} {
		c.Parameters = map[string]any{"window_seconds": windowLength.Seconds(), "sampling": "default", "workers": 2, "over": "TCP", "job": "one, attached to and detached from"}
		c.Ours = d.side(true, c.figure)
		c.Baselines = []bench.Baseline{{Name: notAttached, Run: d.side(false, c.figure)}}
		c.Goal = &bench.Goal{Baseline: notAttached, Ratio: c.goal}
		c.Annotate = func(parameters map[string]any) {
			parameters["ratio_first_quartile"], parameters["ratio_third_quartile"] = d.quartiles(c.figure)
		}
		list = append(list, c.Case)
	}
	return list
}

// quartiles are those of the ratio, observed to not, of all pairs but the first, which is the
// warm-up.
func (d *duel) quartiles(figure func(Outcome) float64) (first, third float64) {
	var ratios []float64
	for i := 1; i < min(len(d.with), len(d.without)); i++ {
		ratios = append(ratios, figure(d.with[i])/figure(d.without[i]))
	}
	if len(ratios) == 0 {
		return 0, 0
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/4], ratios[len(ratios)*3/4]
}
