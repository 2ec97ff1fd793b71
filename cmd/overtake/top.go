package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/overtake-stream/overtake/perf/top"
)

type topCmd struct {
	Addr     []string      `help:"Endpoint of the job, as given to its --listen; it names those of the job's other workers. Of a --cluster, list one for each worker." placeholder:"HOST:PORT,..." default:"127.0.0.1:7070"`
	Interval time.Duration `short:"i" help:"From one look to the next." default:"1s"`
	Once     bool          `help:"Print what the job does in one interval, as plain text, and exit." xor:"out"`
	JSON     bool          `name:"json" help:"The same as JSON." xor:"out"`
	Width    int           `help:"Columns of --once." default:"170" placeholder:"N"`
}

// Validate is called by kong.
func (c *topCmd) Validate() error {
	if c.Interval < 10*time.Millisecond {
		return fmt.Errorf("--interval %v: it must be 10ms or more", c.Interval)
	}
	if c.Width < 40 {
		return fmt.Errorf("--width %d: it must be 40 or more", c.Width)
	}
	return nil
}

func (c *topCmd) Run(*env) error {
	for i := range c.Addr {
		c.Addr[i] = endpointAddr(c.Addr[i])
	}
	client := top.NewClient(c.Addr...)
	defer client.Close()
	if c.Once || c.JSON {
		return c.once(client)
	}
	if info, err := os.Stdout.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return errors.New("standard output is not a terminal: use --once or --json")
	}
	m := top.NewModel(top.Options{Read: client.Read, Addrs: c.Addr, Interval: c.Interval, Plain: os.Getenv("NO_COLOR") != ""})
	_, err := tea.NewProgram(m).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil // it is how one leaves
	}
	return err
}

// endpointAddr is host:port of what people write: an address, a port of this machine as
// --listen takes it, or what a browser shows.
func endpointAddr(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "http://"), "/")
	if !strings.Contains(text, ":") {
		if _, err := strconv.ParseUint(text, 10, 16); err == nil {
			return "127.0.0.1:" + text
		}
	}
	return text
}

// once prints the figures of one interval.
func (c *topCmd) once(client *top.Client) error {
	ctx, stop := interruptible()
	defer stop()
	f, err := c.figures(ctx, client)
	if err != nil {
		return err
	}
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false) // "a -> b"
		out.SetIndent("", "  ")
		return out.Encode(f)
	}
	_, err = os.Stdout.WriteString(top.Frame(f, c.Width))
	return err
}

// figures takes two readings, unless the job has ended with the first. One that ends in
// between is an error: nothing is known of the interval.
func (c *topCmd) figures(ctx context.Context, client *top.Client) (f top.Figures, err error) {
	first, err := client.Read(ctx)
	if err != nil {
		return f, fmt.Errorf("no job answers (was it started with --listen?): %w", err)
	}
	if f = top.Compute(top.Reading{}, first); f.Ended {
		return f, nil
	}
	select {
	case <-time.After(c.Interval):
	case <-ctx.Done():
		return f, ctx.Err()
	}
	second, err := client.Read(ctx)
	if err != nil {
		return f, fmt.Errorf("the job has gone within the interval: %w", err)
	}
	return top.Compute(first, second), nil
}
