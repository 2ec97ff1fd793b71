package peers

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/nexmark"
)

// flinkQueries are those that the peer's program has. The last is a running keyed aggregate.
const flinkQueries = "q0+q1+q2+q14+q21+q22+running"

// flinkNexmarkCase compares the processor time of an event: from the first one to the last
// row and, of ours, the end of the job. Both sides have the events in memory.
func flinkNexmarkCase(events string) Case {
	c := Case{
		Name: "nexmark", Shared: true, Prepare: exportEvents, Ours: flinkNexmark,
		Params: Params{"events": events, "queries": flinkQueries, "warmups": "4", "rounds": "5"},
	}
	for _, q := range strings.Split(flinkQueries, "+") {
		c.Figures = append(c.Figures, Figure{Metric: q, Unit: "s/record", Better: bench.Lower, Goal: 0.5, Check: true})
	}
	c.Figures = append(c.Figures, Figure{Metric: "mean", Unit: "s/record", Better: bench.Lower, Goal: 0.2})
	return c
}

// exportEvents writes the events to a file that the peer's program reads before it
// measures.
func exportEvents(_ context.Context, p Params, _ func(string, Params) ([]Line, error)) (Params, error) {
	g, err := nexmark.NewGenerator(nexmark.Options{Events: uint64(p.Int("events"))})
	if err != nil {
		return p, err
	}
	return p, g.Export(filepath.Join(p["folder"], "events"))
}

// flinkNexmark runs queries of Nexmark. The first run of each hashes texts as a whole, for
// the check, the others by their length alone: so does the other side.
func flinkNexmark(ctx context.Context, p Params, out func(Line)) error {
	g, err := nexmark.NewGenerator(nexmark.Options{Events: uint64(p.Int("events"))})
	if err != nil {
		return err
	}
	g = g.InMemory()
	queries, err := nexmark.Find(strings.Split(p["queries"], "+"))
	if err != nil {
		return err
	}
	logs := 0.
	for _, q := range queries {
		r, _, err := queryOnce(ctx, q, g, false)
		if err != nil {
			return err
		}
		for range p.Int("warmups") - 1 {
			if _, _, err := queryOnce(ctx, q, g, true); err != nil {
				return err
			}
		}
		var total time.Duration
		for range p.Int("rounds") {
			_, took, err := queryOnce(ctx, q, g, true)
			if err != nil {
				return err
			}
			total += took
		}
		used := total.Seconds() / float64(p.Int("rounds")*p.Int("events"))
		logs += math.Log(used)
		settings := pairSettings(overtake.Options{})
		settings["events"] = "in memory"
		out(Line{
			Metric: q.Name, Unit: "s/record", Value: used, Records: r.Rows, Check: fmt.Sprintf("%x", r.Hash),
			Settings: settings,
		})
	}
	out(Line{Metric: "mean", Unit: "s/record", Value: math.Exp(logs / float64(len(queries)))})
	return nil
}

// queryOnce runs a query, and says how much processor time it took.
func queryOnce(ctx context.Context, q nexmark.Query, g *nexmark.Generator, brief bool) (sum nexmark.Result, used time.Duration, err error) {
	var outputs [2]nexmark.Output // of the workers
	var began sync.Once
	var before time.Duration
	pair := workerPair{job: func(worker int, o overtake.Options) *overtake.Job {
		outputs[worker].Brief = brief
		return q.Job(g, nexmark.Setup{Engine: o, Output: &outputs[worker], Began: func() {
			began.Do(func() { before = cpuTime() })
		}})
	}}
	if err := pair.run(ctx); err != nil {
		return sum, 0, err
	}
	used = cpuTime() - before
	for i := range outputs {
		r := outputs[i].Result()
		sum.Rows += r.Rows
		sum.Hash += r.Hash
	}
	return sum, used, nil
}
