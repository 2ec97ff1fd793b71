package perfcost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"

	"github.com/overtake-stream/overtake/bench"
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
}

// Run runs the suite. An error of any measurement ends it.
func Run(ctx context.Context, cfg Config) (*bench.Document, error) {
	folder, err := os.MkdirTemp("", "perfcost-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if cfg.Progress != nil {
		cfg.Progress("building programs with and without the account of times")
	}
	p, err := build(ctx, cmp.Or(cfg.Tool, "go"), cmp.Or(cfg.Module, "."), folder)
	why := ""
	if err != nil {
		p, why = programs{}, err.Error()
	}
	list := cases(p, why)
	switch {
	case cfg.Observe == nil:
	case why == "":
		list = append(list, observed(p.with, cfg.Observe)...)
	case cfg.Progress != nil:
		cfg.Progress("no profiler is attached: " + why)
	}
	return bench.Run(ctx, cfg.Config, Suite, list)
}

// compiledOut is the name of the baseline.
const compiledOut = "compiled out"

// cases are those of the suite. why says why there is no baseline; empty: there is.
func cases(p programs, why string) (list []bench.Case) {
	for _, job := range []struct {
		name    string
		records int64
	}{{"exchange", 100_000_000}, {"keyBy", 40_000_000}, {"workers", 40_000_000}} {
		work := func(s bench.Size) Work { return Work{Job: job.name, Records: uint64(s.Of(job.records))} }
		pair := func(name string, c bench.Case, figure func(w Work, o Outcome) float64, goal float64) {
			c.Name = job.name + "/" + name
			c.Parameters = map[string]any{"records": job.records}
			list = append(list, compared(c, p, why, work, figure, goal))
		}
		pair("throughput", bench.Case{Metric: "throughput", Unit: "records/s", Better: bench.Higher},
			func(w Work, o Outcome) float64 { return float64(w.Records) / o.Seconds }, 0.99)
		pair("cpu", bench.Case{Metric: "cpu", Unit: "s/record", Better: bench.Lower},
			func(w Work, o Outcome) float64 { return o.CPU / float64(w.Records) }, 1.01)
	}
	const rate, records = 50_000, 250_000
	paced := func(s bench.Size) Work { return Work{Job: "exchange", Records: uint64(s.Of(records)), Rate: rate} }
	for _, q := range []struct {
		name   string
		figure func(w Work, o Outcome) float64
		goal   float64
	}{
		{"p50", func(_ Work, o Outcome) float64 { return o.P50 }, 1.02},
		{"p99", func(_ Work, o Outcome) float64 { return o.P99 }, 1.02},
	} {
		c := bench.Case{Name: "exchange/latency/" + q.name, Metric: "latency", Unit: "s", Better: bench.Lower}
		c.Parameters = map[string]any{"records": records, "rate": rate, "from": "intended time"}
		list = append(list, compared(c, p, why, paced, q.figure, q.goal))
	}
	return append(list, gates()...)
}

// compared fills in both sides of a case.
func compared(c bench.Case, p programs, why string, work func(bench.Size) Work, figure func(Work, Outcome) float64, goal float64) bench.Case {
	side := func(program string, measured bool) bench.Measure {
		return func(ctx context.Context, s bench.Size) (float64, error) {
			w := work(s)
			o, err := w.in(ctx, program)
			if err == nil && program != "" && o.Measured != measured {
				err = fmt.Errorf("perfcost: the program keeps an account: %v, want %v", o.Measured, measured)
			}
			return figure(w, o), err
		}
	}
	c.Parameters = maps.Clone(c.Parameters)
	c.Parameters["own_process"] = p.with != ""
	c.Ours = side(p.with, true)
	c.Baselines = []bench.Baseline{{Name: compiledOut, Run: side(p.without, false), Skip: why}}
	c.Goal = &bench.Goal{Baseline: compiledOut, Ratio: goal}
	return c
}
