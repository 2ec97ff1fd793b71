package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/overtake-stream/overtake/perf/ebpf"
	perfview "github.com/overtake-stream/overtake/perf/view"
)

type perfCmd struct {
	Check   perfCheckCmd   `cmd:"" help:"Say what can be seen on this machine, what would help, and what looking costs."`
	Latency perfLatencyCmd `cmd:"" help:"Say where messages between processes spend their time, down to the kernel."`
	RunQ    perfRunQCmd    `cmd:"" name:"runq" help:"Show how long threads wait for a processor."`
	OffCPU  perfOffCPUCmd  `cmd:"" name:"offcpu" help:"Show where threads are when they give their processor up."`
	Conns   perfConnsCmd   `cmd:"" help:"List TCP connections: round trips, what limits them, retransmits, credits."`
}

// targetFlags say which processes to look at.
type targetFlags struct {
	PID  []int  `name:"pid" help:"Processes to look at." placeholder:"N,..."`
	Addr string `help:"Look at all workers of the job that serves here (\"overtake run --listen\"), and at what it says itself." placeholder:"HOST:PORT"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// durationFlag says for how long.
type durationFlag struct {
	Duration time.Duration `short:"d" help:"How long to look; an interrupt (Ctrl-C) ends it earlier." default:"10s"`
}

// Validate is called by kong.
func (f durationFlag) Validate() error {
	if f.Duration <= 0 {
		return fmt.Errorf("--duration %v: it must be more than 0", f.Duration)
	}
	return nil
}

// Validate is called by kong.
func (f targetFlags) Validate() error {
	if len(f.PID) == 0 && f.Addr == "" {
		return errors.New("say what to look at: --pid N,... or --addr HOST:PORT")
	}
	if len(f.PID) > 0 && f.Addr != "" {
		return errors.New("--pid and --addr exclude each other: --addr finds all processes of the job")
	}
	for _, pid := range f.PID {
		if pid <= 0 {
			return fmt.Errorf("--pid %d: a process ID is more than 0", pid)
		}
	}
	return nil
}

// target is what a command looks at.
type target struct {
	job  *perfview.Job // nil: only processes were given
	pids []int
}

// open finds the processes.
func (f targetFlags) open(ctx context.Context) (t target, err error) {
	if f.Addr == "" {
		for _, pid := range f.PID {
			if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
				return t, fmt.Errorf("there is no process %d", pid)
			}
		}
		return target{pids: f.PID}, nil
	}
	if t.job, err = perfview.OpenJob(ctx, f.Addr); err != nil {
		return t, err
	}
	t.pids, err = t.job.Processes()
	return t, err
}

// explain says what helps against an error of looking at processes.
func explain(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: another user's process: look as that user, or with CAP_SYS_PTRACE", err)
	}
	return err
}

// interruptible returns a context that an interrupt ends, or SIGTERM.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

type perfCheckCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run checks.
func (c *perfCheckCmd) Run() error {
	ctx, stop := interruptible()
	defer stop()
	s, err := ebpf.Check(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s)
	}
	return perfview.WriteCheck(os.Stdout, s)
}
