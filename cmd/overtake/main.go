// Command overtake runs jobs and benchmarks of the Overtake data plane.
//
// Results go to standard output, progress and logs to standard error. The exit code
// is 0 for success, 1 for a job or a comparison that failed, 2 for a wrong command
// line, 130 when it was interrupted twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/alecthomas/kong"
	"github.com/lmittmann/tint"
	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/ckpt"
	"github.com/overtake-stream/overtake/bench/peers"
	"github.com/overtake-stream/overtake/bench/state"
)

type cli struct {
	LogLevel slog.Level `help:"Least level to log: debug, info, warn or error." default:"info" env:"OVERTAKE_LOG_LEVEL"`
	Quiet    bool       `short:"q" help:"Show no progress."`

	Run        runCmd         `cmd:"" help:"Run a job."`
	Checkpoint checkpointsCmd `cmd:"" help:"Look at the checkpoints of jobs."`
	Savepoint  savepointCmd   `cmd:"" help:"Ask a running job for a savepoint."`
	Bench      benchCmd       `cmd:"" help:"Measure, side by side with baselines."`
	Perf       perfCmd        `cmd:"" help:"Say where a running job's time goes, down to the kernel."`
	Top        topCmd         `cmd:"" help:"Show what a running job does, live in the terminal."`
	Version    versionCmd     `cmd:"" help:"Print the version."`
	Completion completionCmd  `cmd:"" help:"Print a completion script for a shell."`
}

// env is what commands are given.
type env struct {
	log      *slog.Logger
	progress bool
}

func main() {
	if bench.Child() || state.Child() || ckpt.Child() || peers.Child(peers.All()) {
		return
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name("overtake"),
		kong.Description("Stream processing with buffers that do not wait for barriers."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // the struct above is wrong
	}
	k, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "overtake: %v\nRun \"overtake --help\" to see what there is.\n", err)
		return 2
	}
	info, err := os.Stderr.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	log := slog.New(tint.NewTextHandler(os.Stderr, &tint.Options{Level: c.LogLevel, TimeFormat: time.TimeOnly, NoColor: !terminal}))
	if err := c.profiled(func() error { return k.Run(&env{log: log, progress: !c.Quiet && !overtake.IsCopy()}) }); err != nil {
		if !errors.Is(err, context.Canceled) {
			log.Error(err.Error())
		}
		return exitCode(err)
	}
	return 0
}

func exitCode(err error) int {
	if errors.Is(err, context.Canceled) {
		return 130
	}
	return 1
}
