package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/internal/atomicfile"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/ebpf"
	perfview "github.com/overtake-stream/overtake/perf/view"
)

type perfRunQCmd struct {
	targetFlags
	durationFlag
}

// Validate is called by kong.
func (c *perfRunQCmd) Validate() error {
	return errors.Join(c.targetFlags.Validate(), c.durationFlag.Validate())
}

// runQueueOutput is the JSON of a process.
type runQueueOutput struct {
	PID int `json:"pid"`
	*ebpf.RunQueueReport
	P50  *time.Duration `json:"p50_ns"` // null: n/a
	P99  *time.Duration `json:"p99_ns"`
	P999 *time.Duration `json:"p999_ns"`
}

// Run looks at all processes at once, but counts each apart.
func (c *perfRunQCmd) Run() error {
	ctx, stop := interruptible()
	defer stop()
	t, err := c.open(ctx)
	if err != nil {
		return err
	}
	all := make([]runQueueOutput, len(t.pids))
	errs := make([]error, len(t.pids))
	var busy sync.WaitGroup
	for i, pid := range t.pids {
		busy.Go(func() {
			all[i].PID = pid
			all[i].RunQueueReport, errs[i] = ebpf.RunQueue(ctx, []int{pid}, c.Duration)
		})
	}
	busy.Wait()
	if err := errors.Join(errs...); err != nil {
		return explain(err)
	}
	for i := range all {
		all[i].quantiles()
	}
	if c.JSON {
		return printJSON(all)
	}
	for i, r := range all {
		if i > 0 {
			fmt.Println()
		}
		if err := perfview.WriteRunQueue(os.Stdout, fmt.Sprint("process ", r.PID), r.RunQueueReport); err != nil {
			return err
		}
	}
	return nil
}

func (o *runQueueOutput) quantiles() {
	if o.Waits == nil || o.Waits.Count() == 0 {
		return
	}
	q := func(v float64) *time.Duration { d := o.Waits.Quantile(v); return &d }
	o.P50, o.P99, o.P999 = q(0.5), q(0.99), q(0.999)
}

type perfOffCPUCmd struct {
	targetFlags
	durationFlag
	Out   string `help:"Write the stacks to a file instead of standard output." placeholder:"FILE"`
	Pprof string `help:"Write them for \"go tool pprof\", too." placeholder:"FILE"`
}

// Validate is called by kong.
func (c *perfOffCPUCmd) Validate() error {
	if c.JSON && c.Out != "" {
		return errors.New("--json goes to standard output: leave --out out")
	}
	return errors.Join(c.targetFlags.Validate(), c.durationFlag.Validate())
}

// Run prints folded stacks. What was refused is said on standard error.
func (c *perfOffCPUCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	t, err := c.open(ctx)
	if err != nil {
		return err
	}
	r, err := ebpf.OffCPU(ctx, t.pids, c.Duration)
	if err != nil {
		return explain(err)
	}
	if c.Pprof != "" {
		if err := atomicfile.Replace(c.Pprof, 0o644, r.Profile); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(r)
	}
	for _, refused := range r.Refusals {
		e.log.Warn("refused: " + refused.String())
	}
	if c.Out != "" {
		err = atomicfile.Replace(c.Out, 0o644, r.Folded)
	} else {
		err = r.Folded(os.Stdout)
	}
	if err == nil && e.progress && len(r.Refusals) == 0 {
		fmt.Fprintf(os.Stderr, "%d stacks, the sum of all threads: %v; idle threads, left out: %v; no room for %d waits\n",
			len(r.Stacks), offCPUTime(r), r.Idle.Round(time.Millisecond), r.Lost)
	}
	return err
}

func offCPUTime(r *ebpf.OffCPUReport) (sum time.Duration) {
	for _, s := range r.Stacks {
		sum += s.Time
	}
	return sum.Round(time.Microsecond)
}

type perfConnsCmd struct{ targetFlags }

// Run lists connections.
func (c *perfConnsCmd) Run() error {
	ctx, stop := interruptible()
	defer stop()
	t, err := c.open(ctx)
	if err != nil {
		return err
	}
	channels, err := t.channels(ctx)
	if err != nil {
		return err
	}
	found, err := ebpf.Conns(ctx, t.pids)
	if err != nil {
		return explain(err)
	}
	list := make([]perfview.Conn, 0, len(found))
	for _, conn := range found {
		if t.job != nil && t.watching(conn.From, conn.To) {
			continue
		}
		list = append(list, perfview.Conn{Connection: conn, LimitedBy: conn.Limit(), Channels: channels[socket{conn.PID, conn.Cookie}]})
	}
	if c.JSON {
		return printJSON(list)
	}
	return perfview.WriteConns(os.Stdout, list)
}

// socket is one end of a connection.
type socket struct {
	pid    int
	cookie uint64
}

// channels is what the job says of the channels of each connection, nothing without a job.
func (t *target) channels(ctx context.Context) (map[socket]*perf.ConnectionSnapshot, error) {
	if t.job == nil {
		return nil, nil
	}
	all, err := t.job.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	found := map[socket]*perf.ConnectionSnapshot{}
	for i, w := range t.job.Workers() {
		for k := range all[i].Connections {
			if c := &all[i].Connections[k]; c.Cookie != 0 {
				found[socket{w.PID, c.Cookie}] = c
			}
		}
	}
	return found, nil
}

// watching reports whether a connection is one over which the job is watched, as this
// program does itself.
func (t *target) watching(local, remote string) bool {
	for _, w := range t.job.Workers() {
		if port := w.Addr[strings.LastIndexByte(w.Addr, ':'):]; strings.HasSuffix(local, port) || strings.HasSuffix(remote, port) {
			return true
		}
	}
	return false
}
