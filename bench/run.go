package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/bench/pressure"
)

// Config says how to run a suite. Zero fields mean the defaults.
type Config struct {
	Pairs    int               // measured pairs of each case; default 5, with Quick 3
	Quick    bool              // measurements of a tenth of the size
	Size     Size              // their size; default 1, with Quick 10
	Filter   string            // only cases whose name contains it
	Progress func(line string) // gets a line for each step

	// Pressure is what the suite has put its cases under: results have it among their
	// parameters, and goals are not judged.
	Pressure pressure.Config
}

// WithDefaults returns the configuration with the defaults in place of zero fields.
func (c Config) WithDefaults() Config {
	if c.Pairs == 0 {
		c.Pairs = 5
		if c.Quick {
			c.Pairs = 3
		}
	}
	if c.Size == 0 {
		c.Size = 1
		if c.Quick {
			c.Size = quick
		}
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// Wanted reports whether any of the cases passes a filter.
func Wanted(cases []Case, filter string) bool {
	return slices.ContainsFunc(cases, func(c Case) bool { return strings.Contains(c.Name, filter) })
}

// Run runs the cases of a suite. An error of any measurement ends it.
func Run(ctx context.Context, cfg Config, suite string, cases []Case) (*Document, error) {
	cfg = cfg.WithDefaults()
	if cfg.Pairs < 1 {
		return nil, fmt.Errorf("bench: Pairs is %d: set at least 1", cfg.Pairs)
	}
	d := &Document{Suite: suite, Environment: readEnvironment(), Cases: []Result{}}
	for _, c := range cases {
		if !strings.Contains(c.Name, cfg.Filter) {
			continue
		}
		r, err := c.run(ctx, cfg)
		if err != nil {
			return d, fmt.Errorf("bench: %s/%s: %w", suite, c.Name, err)
		}
		d.Cases = append(d.Cases, r)
		cfg.Progress(r.line())
	}
	if len(d.Cases) == 0 {
		return d, fmt.Errorf("bench: no case of %s has %q in its name", suite, cfg.Filter)
	}
	return d, nil
}

func (c Case) run(ctx context.Context, cfg Config) (Result, error) {
	r := Result{Name: c.Name, Parameters: maps.Clone(c.Parameters), Metric: c.Metric, Unit: c.Unit, Better: c.Better, Baselines: []BaselineResult{}}
	if r.Parameters == nil {
		r.Parameters = map[string]any{}
	}
	r.Parameters["pairs"], r.Parameters["quick"] = cfg.Pairs, cfg.Size > 1
	maps.Copy(r.Parameters, cfg.Pressure.Parameters())
	if c.Skip != "" {
		r.Ours, r.Skipped = summarise(nil), []Skipped{{Name: c.Name, Why: c.Skip}}
		return r, nil
	}
	sides := []*side{{measure: c.Ours, latency: c.Latency, quantile: c.Quantile}}
	for _, b := range c.Baselines {
		if b.Skip != "" {
			r.Skipped = append(r.Skipped, Skipped{Name: b.Name, Why: b.Skip})
			continue
		}
		sides = append(sides, &side{measure: b.Run, latency: b.Latency, quantile: c.Quantile})
		r.Baselines = append(r.Baselines, BaselineResult{Name: b.Name})
	}
	for pair := range 1 + cfg.Pairs {
		for _, s := range sides {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			if err := s.run(ctx, cfg.Size); err != nil {
				return r, err
			}
			if pair == 0 {
				s.forget()
			}
		}
	}
	r.Ours = sides[0].summary()
	for i := range r.Baselines {
		b := &r.Baselines[i]
		b.Summary = sides[i+1].summary()
		b.Ratio = summarise(ratios(r.Ours.Runs, b.Runs))
	}
	if c.Annotate != nil {
		c.Annotate(r.Parameters)
	}
	if !cfg.Pressure.Active() {
		r.judge(c.Goal)
	}
	return r, nil
}

// ratios divides pair by pair. Something of nothing is the greatest number, since
// JSON has no infinity.
func ratios(ours, theirs []float64) (list []float64) {
	for i := range ours {
		if theirs[i] == ours[i] {
			list = append(list, 1) // 0 of 0, too
			continue
		}
		list = append(list, min(ours[i]/theirs[i], math.MaxFloat64))
	}
	return list
}

func (r *Result) judge(g *Goal) {
	if g == nil {
		return
	}
	for _, b := range r.Baselines {
		if b.Name == g.Baseline {
			met := b.Ratio.Median >= g.Ratio
			if r.Better == Lower {
				met = b.Ratio.Median <= g.Ratio
			}
			r.Goal = &GoalResult{Baseline: g.Baseline, Ratio: g.Ratio, Met: met}
		}
	}
}
