package peers

import (
	"context"
	"maps"

	"github.com/overtake-stream/overtake/bench"
)

// rss is the metric that every case has.
const rss = "rss"

// figures are those of the case, and the memory.
func (c Case) figures() []Figure {
	return append(append([]Figure(nil), c.Figures...), Figure{Metric: rss, Unit: "B", Better: bench.Lower})
}

// document is the result of the case, one row for each figure.
func (c comparison) document(ctx context.Context) (*bench.Document, error) {
	var rows []bench.Case
	for _, f := range c.figures() {
		row := bench.Case{
			Name: c.peer.Name + "/" + c.Name + "/" + f.Metric, Parameters: c.parameters(f),
			Metric: f.Metric, Unit: f.Unit, Better: f.Better, Ours: replay(c.ours, f.Metric),
		}
		base := bench.Baseline{Name: c.peer.Title, Run: replay(c.theirs, f.Metric)}
		if c.skip != nil {
			base.Skip = c.skip.Error()
		}
		row.Baselines = []bench.Baseline{base}
		if f.Goal > 0 {
			row.Goal = &bench.Goal{Baseline: c.peer.Title, Ratio: f.Goal}
		}
		rows = append(rows, row)
	}
	size := bench.Size(1)
	if c.cfg.Quick {
		size = 10
	}
	d, err := bench.Run(ctx, bench.Config{Pairs: c.cfg.Pairs, Quick: c.cfg.Quick, Size: size, Progress: c.cfg.Progress}, Suite, rows)
	for i := range d.Cases {
		r := &d.Cases[i]
		r.Ours.Percentiles = percentiles(c.ours, r.Metric)
		if len(r.Baselines) > 0 {
			r.Baselines[0].Percentiles = percentiles(c.theirs, r.Metric)
		}
	}
	return d, err
}

// replay gives what was measured, one run after the other. What bench.Run takes first is
// its warm-up: each process here has had its own.
func replay(runs []outcome, metric string) bench.Measure {
	next := -1
	return func(context.Context, bench.Size) (float64, error) {
		l, _ := runs[max(0, next)].find(metric)
		next++
		return l.Value, nil
	}
}

// percentiles are those of the run in the middle, by its median: runs are apart, and
// percentiles do not add up.
func percentiles(runs []outcome, metric string) *bench.Percentiles {
	var list []*bench.Percentiles
	for _, o := range runs {
		if l, _ := o.find(metric); l.Percentiles != nil {
			list = append(list, l.Percentiles)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return middle(list)
}

// parameters are those of the row, with the settings of both sides.
func (c comparison) parameters(f Figure) map[string]any {
	all := map[string]any{"load_average": load()}
	for k, v := range c.Params {
		all[k] = v
	}
	for name, runs := range map[string][]outcome{"ours": c.ours, "theirs": c.theirs} {
		if len(runs) == 0 {
			continue
		}
		settings := map[string]any{}
		for _, l := range runs[0].lines {
			maps.Copy(settings, l.Settings)
		}
		all["settings_"+name] = settings
		l, _ := runs[0].find(f.Metric)
		all["records_"+name], all["check_"+name] = l.Records, l.Check
		var used []float64
		for _, o := range runs {
			used = append(used, o.cpu.Seconds())
		}
		all["process_cpu_seconds_"+name] = used
	}
	if len(c.built.tools) > 0 {
		all["tools"] = c.built.tools
	}
	return all
}
