package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/overtake-stream/overtake/perf"
)

// mostAnswer bounds an answer, in bytes.
const mostAnswer = 64 << 20

// Client reads a job's snapshots from its workers' endpoints. It has one owner.
type Client struct {
	http  http.Client
	given []string
	known []string // given, and what these have named
}

// NewClient reads from endpoints, "host:port", and from those that they name as the
// job's other workers. Close it.
func NewClient(addrs ...string) *Client {
	return &Client{http: http.Client{Transport: &http.Transport{}}, given: addrs}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Read asks all workers, one after the other, until ctx is over. The error is that of
// the last one if none answers.
func (c *Client) Read(ctx context.Context) (Reading, error) {
	if c.known == nil {
		if err := c.discover(ctx); err != nil {
			return Reading{}, err
		}
	}
	var r Reading
	var last error
	for _, addr := range c.known {
		var s perf.JobSnapshot
		if err := c.get(ctx, addr, "/snapshot", &s); err != nil {
			last = err
			r.Missing = append(r.Missing, err.Error())
		} else if r.worker(s.Worker) == nil { // else it is known under two names
			r.Workers = append(r.Workers, s)
		}
	}
	slices.SortFunc(r.Workers, func(a, b perf.JobSnapshot) int { return a.Worker - b.Worker })
	if len(r.Workers) == 0 {
		c.known = nil // the next job there may have others
		return Reading{}, last
	}
	return r, nil
}

// discover asks each given endpoint for the others.
func (c *Client) discover(ctx context.Context) error {
	var all []string
	var last error
	for _, addr := range c.given {
		var named []string
		if err := c.get(ctx, addr, "/workers", &named); err != nil {
			last = err
			named = []string{addr}
		} else if len(named) < 2 {
			named = []string{addr} // it may know itself by a name that is no use here
		}
		for _, n := range named {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	if last != nil && len(c.given) == 1 {
		return last
	}
	c.known = all
	return nil
}

func (c *Client) get(ctx context.Context, addr, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", addr, err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", addr, reason(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s answers %s: is it a job's --listen address?", addr, path, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(v); err != nil {
		return fmt.Errorf("%s: %s is not understood: %w", addr, path, err)
	}
	return nil
}

// reason leaves out what the address says already.
func reason(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time")
	case errors.As(err, &op):
		var sys interface{ Timeout() bool }
		if errors.As(op.Err, &sys) && sys.Timeout() {
			return errors.New("no answer in time")
		}
		return unwrapped(op.Err)
	}
	return err
}

// unwrapped is the innermost error.
func unwrapped(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
