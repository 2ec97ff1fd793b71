package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/overtake-stream/overtake/internal/atomicfile"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/ebpf"
	"github.com/overtake-stream/overtake/perf/probe"
	perfview "github.com/overtake-stream/overtake/perf/view"
)

type perfLatencyCmd struct {
	targetFlags
	durationFlag
	Rate       string        `help:"Messages to sample: adaptive (about 1% of a loaded sender's time at most), every, or one of 64 or 1024." enum:"adaptive,every,64,1024" default:"adaptive"`
	Syscalls   bool          `help:"Look at the beginnings of system calls, too, for the stages go entry and go scheduler. Every thread of the machine pays for that."`
	Histograms bool          `help:"Also count kernel stages of all data, in the kernel."`
	NoMessages bool          `help:"Follow no messages: with --histograms, for long looks."`
	SVG        string        `name:"svg" help:"Draw stages over time, and with --addr credits." placeholder:"FILE"`
	HTML       string        `name:"html" help:"The same as a page, with the tables." placeholder:"FILE"`
	Interval   time.Duration `help:"Length of a column of the picture. Default: a sixtieth of --duration, at least 100ms." placeholder:"TIME"`
}

// latencyOutput is the JSON.
type latencyOutput struct {
	*ebpf.LatencyReport
	Blame    string                 `json:"blame"`
	Accounts []perfview.EdgeAccount `json:"job,omitempty"` // with --addr
	Restarts int                    `json:"restarts,omitempty"`
}

// Validate is called by kong.
func (c *perfLatencyCmd) Validate() error {
	switch {
	case c.NoMessages && !c.Histograms:
		return errors.New("--no-messages leaves nothing to see without --histograms")
	case c.NoMessages && c.pictures():
		return errors.New("--no-messages leaves nothing to draw: leave --svg and --html out")
	case c.Interval < 0:
		return fmt.Errorf("--interval %v: it must be more than 0", c.Interval)
	case c.Interval > 0 && !c.pictures():
		return errors.New("--interval needs --svg or --html")
	case c.Interval > 0 && c.Duration/c.Interval > 2000:
		return fmt.Errorf("--interval %v: that is more than 2000 columns", c.Interval)
	}
	return errors.Join(c.targetFlags.Validate(), c.durationFlag.Validate())
}

func (c *perfLatencyCmd) pictures() bool { return c.SVG != "" || c.HTML != "" }

func (c *perfLatencyCmd) options() ebpf.LatencyOptions {
	rates := map[string]probe.Rate{"adaptive": probe.Adaptive, "every": probe.Every, "64": probe.Every64, "1024": probe.Every1024}
	return ebpf.LatencyOptions{Rate: rates[c.Rate], SystemCalls: c.Syscalls, Histograms: c.Histograms, NoEvents: c.NoMessages}
}

// again finds the job's processes anew, nil if only processes were given.
func (c *perfLatencyCmd) again() func(context.Context) ([]int, error) {
	if c.Addr == "" {
		return nil
	}
	return func(ctx context.Context) ([]int, error) {
		t, err := c.open(ctx)
		return t.pids, err
	}
}

// Run looks.
func (c *perfLatencyCmd) Run(e *env) error {
	ctx, stop := interruptible()
	defer stop()
	t, err := c.open(ctx)
	if err != nil {
		return err
	}
	interval := c.Interval
	if interval == 0 {
		interval = max(c.Duration/60, 100*time.Millisecond)
	}
	line, opts := perfview.NewTimeline(interval), c.options()
	if c.pictures() {
		opts.OnMessage = line.Message
	}
	opts.Processes = c.again()
	if e.progress {
		opts.OnAttached = func() { fmt.Fprintf(os.Stderr, "attached to %v; looking for %v\n", t.pids, c.Duration) }
	}
	var before, after []perf.JobSnapshot
	if t.job != nil {
		if before, err = t.job.Snapshots(ctx); err != nil {
			return err
		}
	}
	credits := pollCredits(ctx, t.job, interval, c.pictures())
	out := latencyOutput{}
	out.LatencyReport, err = ebpf.Latency(ctx, t.pids, c.Duration, opts)
	levels := credits.stop()
	if err != nil {
		return explain(err)
	}
	if t.job != nil {
		if after, err = t.job.Snapshots(context.WithoutCancel(ctx)); err != nil {
			e.log.Warn("the job's own account is missing", "error", err) // it may have ended
		} else {
			out.Accounts, out.Restarts = perfview.Accounts(before, after), restarts(before, after)
		}
	}
	for _, l := range levels {
		line.Credit(l.at, l.worker, l.level)
	}
	out.OneProcess = len(before) > 0 && before[0].Workers == 1
	out.Blame = out.LatencyReport.Blame()
	return c.print(out, line)
}

// restarts is how often a job was restarted between two snapshots of its workers. A process that
// has taken the place of another one has seen none.
func restarts(before, after []perf.JobSnapshot) (n int) {
	for i := range after {
		if after[i].PID == before[i].PID {
			n = max(n, after[i].Restarts-before[i].Restarts)
		} else {
			n = max(n, 1)
		}
	}
	return n
}

// print writes the report and the pictures.
func (c *perfLatencyCmd) print(out latencyOutput, line *perfview.Timeline) error {
	var text bytes.Buffer
	if err := out.write(&text); err != nil {
		return err
	}
	if c.SVG != "" {
		if err := atomicfile.Replace(c.SVG, 0o644, line.WriteSVG); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		err := atomicfile.Replace(c.HTML, 0o644, func(w io.Writer) error {
			return line.WriteHTML(w, "Latency by stage", text.String(), time.Now())
		})
		if err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(out)
	}
	_, err := text.WriteTo(os.Stdout)
	return err
}

func (o *latencyOutput) write(w io.Writer) error {
	if err := perfview.WriteLatency(w, o.LatencyReport); err != nil {
		return err
	}
	if o.Restarts > 0 {
		fmt.Fprintf(w, "\nthe job was restarted %d times meanwhile: what follows is of the last attempt\n", o.Restarts)
	}
	if o.Accounts == nil {
		return nil
	}
	fmt.Fprintln(w)
	return perfview.WriteAccounts(w, o.Accounts)
}

// creditLevel is a worker's credit at a time of probe.Now.
type creditLevel struct {
	at     int64
	worker string
	level  perfview.Level
}

// creditPoller asks a job for its credits at an interval.
type creditPoller struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	levels []creditLevel // the goroutine's until it is done
}

func pollCredits(ctx context.Context, j *perfview.Job, interval time.Duration, wanted bool) *creditPoller {
	p := &creditPoller{}
	ctx, p.cancel = context.WithCancel(ctx)
	if j != nil && wanted {
		p.done.Go(func() { p.run(ctx, j, interval) })
	}
	return p
}

func (p *creditPoller) run(ctx context.Context, j *perfview.Job, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all, err := j.Snapshots(ctx)
		if err != nil {
			continue // a level is missing, which shows; the account at the end tells if the job is gone
		}
		for i := range all {
			if level, ok := perfview.LevelOf(&all[i]); ok {
				w := j.Workers()[i]
				p.levels = append(p.levels, creditLevel{probe.Now(), fmt.Sprintf("worker %d, process %d", i, w.PID), level})
			}
		}
	}
}

// stop gives what was gathered.
func (p *creditPoller) stop() []creditLevel {
	p.cancel()
	p.done.Wait()
	return p.levels
}
