package perfcost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Suite is the name of the suite.
const Suite = "perf"

// Config says how to run the suite. The zero value means the defaults.
type Config struct {
	bench.Config

	Module string // folder of the module's source; default: the current folder
	Tool   string // the go command; default "go"

	// Observe attaches a profiler to a process. nil: what that costs is not measured.
	Observe Observer
	// Traps measures the cost of a probe in this process at a no-op of 5 bytes and at one of
	// 1 byte, in nanoseconds. nil: it is not measured.
	Traps func(ctx context.Context) (five, one float64, err error)
}

// Takes are the kinds of pressure that the jobs can be put under, those of the programs that
// are compared alike. There are no checkpoints for a slow disk.
const Takes = pressure.SlowSink | pressure.Skew | pressure.Stall | pressure.Starve

// observedPairs is how many pairs of windows there are for each pair of other measurements:
// one that is observed differs by less than the machine from itself.
const observedPairs = 3

// Run runs the suite. An error of any measurement ends it; the document then has what was
// measured before.
func Run(ctx context.Context, cfg Config) (d *bench.Document, err error) {
	if err := cfg.Pressure.Check(Suite, Takes); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "perfcost-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	cfg.Progress("building programs with and without the account of times")
	p, err := build(ctx, cmp.Or(cfg.Tool, "go"), cmp.Or(cfg.Module, "."), folder)
	why := ""
	if err != nil {
		p, why = programs{}, err.Error()
	}
	jobs, traps := cfg.Config, cfg.Config
	traps.Pressure = pressure.Config{}
	watched := cfg.Config
	watched.Pairs = observedPairs * watched.WithDefaults().Pairs
	contest := &duel{program: p.with, work: Work{Job: steadyJob, Pressure: cfg.Pressure}, observe: cfg.Observe}
	defer func() { err = errors.Join(err, contest.end()) }()
	for _, part := range []struct {
		bench.Config
		cases []bench.Case
	}{{jobs, cfg.cases(p, why)}, {traps, cfg.places(ctx)}, {watched, cfg.contest(contest, why)}} {
		if !bench.Wanted(part.cases, cfg.Filter) {
			continue
		}
		more, err := bench.Run(ctx, part.Config, Suite, part.cases)
		if d = d.Join(more); err != nil {
			return d, err
		}
	}
	if d == nil {
		return nil, fmt.Errorf("perfcost: no case has %q in its name", cfg.Filter)
	}
	return d, nil
}

// contest are the cases of what an observer costs. The job has no keys to skew.
func (c Config) contest(d *duel, why string) []bench.Case {
	if c.Observe == nil || c.Pressure.Skew > 0 {
		return nil
	}
	if why != "" {
		c.Progress("no profiler is attached: " + why)
		return nil
	}
	return d.cases()
}

// places are the cases of what probe points cost, which no pressure has to do with.
func (c Config) places(ctx context.Context) []bench.Case {
	if c.Pressure.Active() {
		return nil
	}
	list := gates()
	if c.Traps != nil {
		list = append(list, trap(ctx, c.Traps))
	}
	return list
}

// compiledOut is the name of the baseline.
const compiledOut = "compiled out"

// cases are those of the programs that are compared. why says why there is no baseline;
// empty: there is.
func (c Config) cases(p programs, why string) (list []bench.Case) {
	for _, job := range []struct {
		name    string
		records int64
	}{{"exchange", 100_000_000}, {"keyBy", 40_000_000}, {"workers", 40_000_000}} {
		if c.Pressure.Skew > 0 && job.name != "keyBy" {
			continue // it has no keys
		}
		if c.Pressure.SlowSink > 0 { // two seconds of work are enough
			job.records = min(job.records, max(1000, int64(2*time.Second/c.Pressure.SlowSink)))
		}
		t := &trial{programs: p, why: why, work: func(s bench.Size) Work {
			return Work{Job: job.name, Records: uint64(s.Of(job.records)), Pressure: c.Pressure}
		}}
		pair := func(name string, c bench.Case, figure func(o Outcome) float64, goal float64) {
			c.Name = job.name + "/" + name
			c.Parameters = map[string]any{"records": job.records}
			list = append(list, t.compared(c, figure, goal))
		}
		pair("throughput", bench.Case{Metric: "throughput", Unit: "records/s", Better: bench.Higher},
			func(o Outcome) float64 { return float64(o.Read) / o.Seconds }, 0.99)
		pair("cpu", bench.Case{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
			func(o Outcome) float64 { return o.CPU / float64(o.Read) }, 1.01)
	}
	if c.Pressure.Active() {
		return list // latencies at a fixed rate would be those of the pressure
	}
	return append(list, latencies(p, why)...)
}

// latencies are the cases of the time that records take at a fixed rate.
func latencies(p programs, why string) (list []bench.Case) {
	const rate, records = 50_000, 250_000
	t := &trial{programs: p, why: why, work: func(s bench.Size) Work {
		return Work{Job: "exchange", Records: uint64(s.Of(records)), Rate: rate}
	}}
	for _, q := range []struct {
		name   string
		figure func(o Outcome) float64
		goal   float64
	}{
		{"p50", func(o Outcome) float64 { return o.P50 }, 1.02},
		{"p99", func(o Outcome) float64 { return o.P99 }, 1.02},
	} {
		c := bench.Case{Name: "exchange/latency/" + q.name, Metric: "latency", Unit: "s", Better: bench.Lower}
		c.Parameters = map[string]any{"records": records, "rate": rate, "from": "intended time"}
		list = append(list, t.compared(c, q.figure, q.goal))
	}
	return list
}
