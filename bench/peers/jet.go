package peers

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/overtake-stream/overtake/bench"
)

//go:embed jet/pom.xml jet/src
var jetFiles embed.FS

// jet is Hazelcast Jet: one member in a Java process, with two threads for its jobs.
func jet() Peer {
	source, err := fs.Sub(jetFiles, "jet")
	if err != nil {
		panic(err) // the name above is wrong
	}
	return Peer{
		Name: "jet", Title: "Hazelcast Jet 5.5.0",
		Needs: []Tool{Java(17), Javac(17), Maven()}, Source: source,
		Build: mavenPackage,
		Command: func(dir string, p Params) []string {
			return append(append([]string{"java"}, jetJava(p)...), "-cp", filepath.Join(dir, "target", "lib", "*"), "peer.Main")
		},
		Cases: jetCases,
	}
}

// jetJava are the options of the Java machine: the collector with the most throughput, or
// the one with the shortest pauses. Hazelcast's own scripts set the same --add-opens.
func jetJava(p Params) []string {
	return []string{
		"-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:+Use" + p["collector"],
		"--add-modules=java.se",
		"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
		"--add-opens=java.base/java.lang=ALL-UNNAMED",
		"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
		"--add-opens=java.management/sun.management=ALL-UNNAMED",
		"--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED",
	}
}

// jetCases are with two threads on either side.
func jetCases(cfg Config) []Case {
	counted := number(cfg.Pick(20_000_000, 3_000_000))
	rate := []Figure{
		{Metric: "throughput", Unit: "records/s", Better: bench.Higher, Check: true},
		{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
	}
	p := Params{"workers": "2", "collector": "ParallelGC", "queue": "1024"}
	windows := p.with("records", counted, "event_rate", "1000000", "window_ms", "1000")
	paced := p.with("keys", "1000", "window_ms", "20", "millis", number(cfg.Pick(20_000, 4000)),
		"warm_millis", number(cfg.Pick(10_000, 3000)), "collector", "G1GC")
	return []Case{
		{Name: "count/10-keys", Theirs: "count", Params: p.with("records", counted, "keys", "10"), Ours: rollingCount, Figures: rate},
		{Name: "count/100k-keys", Theirs: "count", Params: p.with("records", counted, "keys", "100000"), Ours: rollingCount, Figures: rate},
		{Name: "window/10-keys", Theirs: "window", Params: windows.with("keys", "10"), Ours: windowCount, Figures: rate},
		{Name: "window/100k-keys", Theirs: "window", Params: windows.with("keys", "100000"), Ours: windowCount, Figures: rate},
		{Name: "latency/half-of-peak", Theirs: "latency", Params: paced, Prepare: halfOfPeak(counted), Ours: windowLatency, Figures: latencies()},
	}
}

// latencies are the figures of the time from a window's end, which is when its last record
// was due, to a result of it.
func latencies() (list []Figure) {
	for _, m := range []string{"p50", "p90", "p99", "p99.9", "p99.99", "max"} {
		f := Figure{Metric: m, Unit: "s", Better: bench.Lower, Check: true}
		if m == "p99.99" {
			f.Goal = 1. / 3
		}
		list = append(list, f)
	}
	return list
}

// halfOfPeak sets the rate to half of what the peer can do with the same windows, for both
// sides. It is rounded to whole nanoseconds between records.
func halfOfPeak(records string) func(context.Context, Params, func(string, Params) ([]Line, error)) (Params, error) {
	return func(_ context.Context, p Params, run func(string, Params) ([]Line, error)) (Params, error) {
		lines, err := run("window", p.with("records", records, "event_rate", "1000000"))
		if err != nil {
			return p, err
		}
		for _, l := range lines {
			if l.Metric == "throughput" && l.Value > 0 {
				gap := int64(2e9/l.Value) + 1
				return p.with("gap_ns", strconv.FormatInt(gap, 10)), nil
			}
		}
		return p, fmt.Errorf("peers: no throughput was printed to take half of")
	}
}
