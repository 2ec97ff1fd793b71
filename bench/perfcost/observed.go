package perfcost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// notAttached is the name of the baseline.
const notAttached = "not attached"

// child is another program that runs the steady job.
type child struct {
	cmd  *exec.Cmd
	errs bytes.Buffer
	in   io.WriteCloser
	to   *json.Encoder
	from *json.Decoder
}

func start(ctx context.Context, program string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program)}
	c.cmd.Stderr = &c.errs
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.to, c.from = in, json.NewEncoder(in), json.NewDecoder(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	return c, c.to.Encode(Work{Job: steadyJob})
}

// sample asks how far the job has come.
func (c *child) sample() (o Outcome, err error) {
	if err := c.to.Encode(struct{}{}); err != nil {
		return o, c.failed(err)
	}
	if err := c.from.Decode(&o); err != nil {
		return o, c.failed(err)
	}
	if o.Err != "" {
		err = errors.New(o.Err)
	}
	return o, err
}

// end ends the program.
func (c *child) end() error {
	c.in.Close()
	var last Outcome
	err := c.from.Decode(&last)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if last.Err != "" {
		err = errors.New(last.Err)
	}
	if e := c.cmd.Wait(); e != nil {
		err = errors.Join(err, c.failed(e))
	}
	return err
}

func (c *child) failed(err error) error {
	return fmt.Errorf("perfcost: the job's process: %w: %s", err, bytes.TrimSpace(c.errs.Bytes()))
}

// An Observer looks at a process for a while, or until ctx ends. It calls attached once it
// does. The error says why it cannot.
type Observer func(ctx context.Context, pid int, d time.Duration, attached func()) error

// watched runs the steady job in another program, with an observer if there is one, and
// returns what happened within a time.
func watched(ctx context.Context, program string, d time.Duration, observe Observer) (o Outcome, err error) {
	p, err := start(ctx, program)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	if _, err := p.sample(); err != nil { // it runs by then
		return o, err
	}
	if err := pause(ctx, time.Second); err != nil { // not measured
		return o, err
	}
	if observe != nil {
		own, stop := context.WithCancel(ctx)
		ended, attached := make(chan error, 1), make(chan struct{})
		go func() { ended <- observe(own, p.cmd.Process.Pid, time.Hour, func() { close(attached) }) }()
		defer func() { stop(); err = errors.Join(err, <-ended) }()
		select {
		case <-attached:
		case e := <-ended:
			ended <- nil
			return o, fmt.Errorf("perfcost: the observer has ended: %w", e)
		}
	}
	before, err := p.sample()
	if err != nil {
		return o, err
	}
	if err := pause(ctx, d); err != nil {
		return o, err
	}
	o, err = p.sample()
	o.Read, o.CPU, o.Seconds = o.Read-before.Read, o.CPU-before.CPU, o.Seconds-before.Seconds
	return o, err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// observed are the cases of what an observer costs a job.
func observed(program string, observe Observer) (list []bench.Case) {
	const full = 5000 // milliseconds
	for _, c := range []struct {
		bench.Case
		figure func(o Outcome) float64
		goal   float64
	}{
		{bench.Case{Name: "ebpf/throughput", Metric: "throughput", Unit: "records/s", Better: bench.Higher},
			func(o Outcome) float64 { return float64(o.Read) / o.Seconds }, 0.97},
		{bench.Case{Name: "ebpf/cpu", Metric: "cpu", Unit: "s/record", Better: bench.Lower},
			func(o Outcome) float64 { return o.CPU / float64(o.Read) }, 1.03},
	} {
		side := func(by Observer) bench.Measure {
			return func(ctx context.Context, s bench.Size) (float64, error) {
				o, err := watched(ctx, program, time.Duration(s.Of(full))*time.Millisecond, by)
				return c.figure(o), err
			}
		}
		c.Parameters = map[string]any{"seconds": float64(full) / 1000, "sampling": "default", "workers": 2, "over": "TCP"}
		c.Ours = side(observe)
		c.Baselines = []bench.Baseline{{Name: notAttached, Run: side(nil)}}
		c.Goal = &bench.Goal{Baseline: notAttached, Ratio: c.goal}
		list = append(list, c.Case)
	}
	return list
}
