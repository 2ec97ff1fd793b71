package peers

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"

	"github.com/overtake-stream/overtake/bench"
)

//go:embed timely/Cargo.toml timely/Cargo.lock timely/src
var timelyFiles embed.FS

// timely is Timely Dataflow: worker threads of one process, or two processes.
func timely() Peer {
	source, err := fs.Sub(timelyFiles, "timely")
	if err != nil {
		panic(err) // the name above is wrong
	}
	return Peer{
		Name: "timely", Title: "Timely Dataflow 0.32",
		Needs: []Tool{Cargo()}, Source: source,
		Build: func(ctx context.Context, dir string, log io.Writer) error {
			cmd := exec.CommandContext(ctx, "cargo", "build", "--release", "--locked", "--target-dir", "target")
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
			return cmd.Run()
		},
		Command: func(dir string, _ Params) []string {
			return []string{filepath.Join(dir, "target", "release", "overtake-timely")}
		},
		Cases: timelyCases,
	}
}

// timelyCases are with two workers: threads of one process, or processes of one worker.
// The batch is that with which timely was quickest.
func timelyCases(cfg Config) []Case {
	records := number(cfg.Pick(100_000_000, 20_000_000))
	counted := number(cfg.Pick(50_000_000, 10_000_000))
	iterating := number(cfg.Pick(2000, 500))
	rate := func(goal float64) []Figure {
		return []Figure{
			{Metric: "throughput", Unit: "records/s", Better: bench.Higher, Goal: goal, Check: true},
			{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
		}
	}
	hop := []Figure{{Metric: "iteration", Unit: "s", Better: bench.Lower}}
	threads, processes := Params{"workers": "2", "processes": "1", "batch": "262144", "lag": "2"},
		Params{"workers": "1", "processes": "2", "batch": "262144", "lag": "2"}
	return []Case{
		{Name: "exchange/threads", Theirs: "exchange", Params: threads.with("records", records), Ours: exchange, Figures: rate(1)},
		{Name: "exchange/processes", Theirs: "exchange", Params: processes.with("records", records), Ours: exchange, Figures: rate(1)},
		{Name: "count/10-keys", Theirs: "count", Params: threads.with("records", counted, "keys", "10"), Ours: rollingCount, Figures: rate(0)},
		{Name: "count/100k-keys", Theirs: "count", Params: threads.with("records", counted, "keys", "100000"), Ours: rollingCount, Figures: rate(0)},
		{Name: "ping-pong/one-thread", Theirs: "pingpong", Params: Params{"workers": "1", "processes": "1", "millis": iterating}, Ours: hops, Figures: hop},
		{Name: "ping-pong/threads", Theirs: "pingpong", Params: Params{"workers": "2", "processes": "1", "millis": iterating}, Ours: hops, Figures: hop},
		{Name: "ping-pong/processes", Theirs: "pingpong", Params: Params{"workers": "1", "processes": "2", "millis": iterating}, Ours: hops, Figures: hop},
	}
}
