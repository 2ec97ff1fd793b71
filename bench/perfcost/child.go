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
)

// child is another program that runs the steady job.
type child struct {
	cmd  *exec.Cmd
	errs bytes.Buffer
	in   io.WriteCloser
	to   *json.Encoder
	from *json.Decoder
}

func start(ctx context.Context, program string, w Work) (*child, error) {
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
	return c, c.to.Encode(w)
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

// between is what happens from now on, once all has settled, within a time.
func (c *child) between(ctx context.Context, d time.Duration) (o Outcome, err error) {
	if err := pause(ctx, settling); err != nil {
		return o, err
	}
	before, err := c.sample()
	if err != nil {
		return o, err
	}
	if err := pause(ctx, d); err != nil {
		return o, err
	}
	o, err = c.sample()
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
