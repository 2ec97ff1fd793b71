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

//go:embed disruptor/pom.xml disruptor/src
var disruptorFiles embed.FS

// disruptor is the LMAX Disruptor: a ring between threads of one Java process.
func disruptor() Peer {
	source, err := fs.Sub(disruptorFiles, "disruptor")
	if err != nil {
		panic(err) // the name above is wrong
	}
	return Peer{
		Name: "disruptor", Title: "Disruptor 4.0.0",
		Needs: []Tool{Java(17), Javac(17), Maven()}, Source: source,
		Build: mavenPackage,
		Command: func(dir string, _ Params) []string {
			return []string{"java", "-Xms256m", "-Xmx256m", "-XX:+UseParallelGC", "-XX:+AlwaysPreTouch",
				"-cp", filepath.Join(dir, "target", "lib", "*"), "peer.Main"}
		},
		Cases: disruptorCases,
	}
}

// disruptorCases hand over longs, published one at a time and in tens, as in Disruptor's own
// tests of throughput, from which the size of the ring and the wait strategy are taken too.
func disruptorCases(cfg Config) []Case {
	records := number(cfg.Pick(100_000_000, 20_000_000))
	figures := func(goal float64) []Figure {
		return []Figure{
			{Metric: "time", Unit: "s/record", Better: bench.Lower, Goal: goal, Check: true},
			{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
		}
	}
	p := Params{"records": records, "ring": "65536", "wait": "yield"}
	return []Case{
		{Name: "1to1/single", Theirs: "handoff", Params: p.with("consumers", "1", "batch", "1"), Ours: handoff, Figures: figures(2)},
		{Name: "1to1/batches-of-10", Theirs: "handoff", Params: p.with("consumers", "1", "batch", "10"), Ours: handoff, Figures: figures(2)},
		{Name: "1to4/single", Theirs: "handoff", Params: p.with("consumers", "4", "batch", "1"), Ours: handoff, Figures: figures(0)},
	}
}

// mavenPackage builds a Java program whose pom gathers its jars in target/lib.
func mavenPackage(ctx context.Context, dir string, log io.Writer) error {
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "package")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	return cmd.Run()
}
