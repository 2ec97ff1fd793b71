package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// program is ours or a peer's.
type program struct {
	argv []string
	env  []string // added to this process's
	dir  string   // where it runs, which is where it may write
}

// outcome is what one process measured.
type outcome struct {
	lines []Line
	cpu   time.Duration // of the whole process, start and warm-up included
}

// run runs the program to its end. It is killed, with all that it has started, when ctx
// ends.
func (p program) run(ctx context.Context) (out outcome, err error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = bench.Offspring()
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	said := &lastWords{}
	cmd.Stderr = said
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return out, err
	}
	if err := cmd.Start(); err != nil {
		return out, err
	}
	out.lines, err = readLines(pipe)
	if e := cmd.Wait(); e != nil {
		err = fmt.Errorf("%w: %s", errors.Join(e, ctx.Err(), err), tail(said.String(), 12))
	}
	if err != nil {
		return out, err
	}
	for _, l := range out.lines {
		if l.Error != "" {
			err = errors.Join(err, fmt.Errorf("%s: %s", l.Case, l.Error))
		}
	}
	out.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if _, own := out.find(rss); !own {
		out.lines = append(out.lines, Line{Metric: rss, Unit: "B", Value: float64(maxRSS(cmd.ProcessState))})
	}
	return out, err
}

// find returns the figure of a metric.
func (o outcome) find(metric string) (Line, bool) {
	for _, l := range o.lines {
		if l.Metric == metric {
			return l, true
		}
	}
	return Line{}, false
}

// lastWords keeps the end of what is written to it.
type lastWords struct{ b []byte }

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	const keep = 16 << 10
	w.b = append(w.b, p...)
	if len(w.b) > 2*keep {
		w.b = append([]byte(nil), w.b[len(w.b)-keep:]...)
	}
	return len(p), nil
}

func (w *lastWords) String() string { return string(w.b) }
