package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/overtake-stream/overtake/bench"
)

// figures are all plots that the documents have something for.
func figures(docs []*bench.Document) (list []figure) {
	for _, f := range []func([]*bench.Document) figure{sizes, distributions, checkpoints, pauses, recoveries} {
		if fig := f(docs); fig != nil {
			list = append(list, fig)
		}
	}
	for _, d := range docs {
		if strings.HasPrefix(d.Suite, "peers") || d.Suite == "operators" || d.Suite == "nexmark" {
			if fig := ratios(d); fig != nil {
				list = append(list, fig)
			}
		}
	}
	return list
}

// results are the cases of a suite whose names begin like this, of all documents.
func results(docs []*bench.Document, suite, prefix string) (list []bench.Result) {
	for _, d := range docs {
		if d.Suite != suite {
			continue
		}
		for _, r := range d.Cases {
			if strings.HasPrefix(r.Name, prefix) {
				list = append(list, r)
			}
		}
	}
	return list
}

// number is a parameter, as it is after JSON; NaN if it is not there.
func number(r bench.Result, name string) float64 {
	switch v := r.Parameters[name].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return math.NaN()
}

func of(x float64, s bench.Summary) point { return point{x, s.Median, s.Min, s.Max} }

// lines collects points into series by their names.
type lines struct{ list []series }

func (l *lines) add(name string, colour int, dashed bool, p point) {
	if math.IsNaN(p.X) || math.IsInf(p.Y, 0) || p.Y <= 0 {
		return
	}
	i := slices.IndexFunc(l.list, func(s series) bool { return s.name == name })
	if i < 0 {
		i = len(l.list)
		l.list = append(l.list, series{name: name, colour: colour1(l.list, colour), dashed: dashed})
	}
	s := &l.list[i]
	s.points = append(s.points, p)
	slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
}

// colour1 is the wanted colour; -1 is that of the number of the series.
func colour1(list []series, wanted int) int {
	if wanted < 0 {
		return len(list)
	}
	return wanted
}

// sizes plots throughput over the size of records.
func sizes(docs []*bench.Document) figure {
	var l lines
	var ticks []tick
	for i, transport := range []string{"local", "tcp", "unix", "tls"} {
		for _, r := range results(docs, "exchange", "size/"+transport+"/") {
			x := number(r, "record")
			ticks = append(ticks, tick{x, bytesName(x)})
			l.add(transport, i, false, of(x, r.Ours))
			for _, b := range r.Baselines {
				l.add(transport+": "+b.Name, i, true, of(x, b.Summary))
			}
		}
	}
	if len(l.list) == 0 {
		return nil
	}
	slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.at, b.at) })
	return &plot{
		file: "throughput-by-record-size", title: "Throughput of one channel by record size",
		note: "Two processes on one machine, two goroutines for local. Dashed: the same bytes without records, 32 KiB at a time. Lines at points: the range of the runs.",
		X:    axis{Label: "record size", Log: true, Ticks: slices.Compact(ticks)}, Y: axis{Label: "payload per second", Unit: "B/s", Log: true}, Series: l.list,
	}
}

func bytesName(v float64) string {
	if v >= 1024 {
		return fmt.Sprintf("%g KiB", v/1024)
	}
	return fmt.Sprintf("%g B", v)
}

// distributions plots latencies under a steady load.
func distributions(docs []*bench.Document) figure {
	var list []series
	for _, r := range results(docs, "exchange", "latency/open-loop") {
		c := len(list) / 2
		transport := strings.TrimPrefix(strings.TrimPrefix(r.Name, "latency/open-loop"), "/")
		name := cmp.Or(transport, "tcp")
		list = append(list, series{name: name, colour: c, bare: true, points: tail(r.Ours)})
		for _, b := range r.Baselines {
			list = append(list, series{name: name + ": " + strings.TrimSuffix(b.Name, ", "+name), colour: c, dashed: true, bare: true, points: tail(b.Summary)})
		}
	}
	list = slices.DeleteFunc(list, func(s series) bool { return len(s.points) == 0 })
	if len(list) == 0 {
		return nil
	}
	var ticks []tick
	for i, label := range []string{"0", "90%", "99%", "99.9%", "99.99%", "99.999%"} {
		ticks = append(ticks, tick{float64(i), label})
	}
	return &plot{
		file: "latency-distribution", title: "There and back at 10,000 messages a second: share that took at most so long",
		note: "64 bytes; latency counts from when a message was due, whether or not earlier ones have been sent. Dashed: the same load over a plain connection or Go channels.",
		X:    axis{Label: "latency from the intended send time", Unit: "s", Log: true}, Y: axis{Label: "share of messages", Ticks: append(ticks, tick{-math.Log10(0.5), "50%"})}, Series: list,
	}
}

// tail are the latencies of a summary over how often they are exceeded, as a power of ten.
func tail(s bench.Summary) (points []point) {
	for _, q := range s.Distribution {
		if q.Share < 1 && q.Seconds > 0 {
			points = append(points, point{X: q.Seconds, Y: -math.Log10(1 - q.Share)})
		}
	}
	if p := s.Percentiles; len(points) == 0 && p != nil {
		for _, q := range []bench.Quantile{{Share: 0.5, Seconds: p.P50}, {Share: 0.9, Seconds: p.P90}, {Share: 0.99, Seconds: p.P99}, {Share: 0.999, Seconds: p.P999}} {
			points = append(points, point{X: q.Seconds, Y: -math.Log10(1 - q.Share)})
		}
	}
	return points
}

// checkpoints plots how long a checkpoint takes over how slow the sink is.
func checkpoints(docs []*bench.Document) figure {
	const published = "Flink, published: "
	var l lines
	colours := map[string]int{"unaligned": 0, "auto": 2, "aligned": 1}
	for _, r := range results(docs, "checkpoint-backpressure", "map/64B/8KiB/memory/1p/") {
		mode, _ := r.Parameters["mode"].(string)
		x := number(r, "sink_seconds")
		if strings.HasSuffix(r.Name, "/in-flight") {
			continue
		}
		l.add(mode, colours[mode], false, of(x, r.Ours))
		for _, b := range r.Baselines {
			if what, ok := strings.CutPrefix(b.Name, published); ok && mode != "auto" {
				l.add("Flink, published, on another machine: "+what, colours[mode], true, of(x, b.Summary))
			}
		}
	}
	if len(l.list) == 0 {
		return nil
	}
	return &plot{
		file: "checkpoint-by-sink-speed", title: "A checkpoint under full backpressure, by the time that the sink takes",
		note: "From the trigger until it is complete; source, map and sink with a rebalance between them, four subtasks each. Published figures of Flink are of other machines.",
		X:    axis{Label: "time of the sink for one record", Unit: "s", Log: true}, Y: axis{Label: "duration of a checkpoint", Unit: "s", Log: true}, Series: l.list,
	}
}

// pauses plots how long a snapshot stops the store.
func pauses(docs []*bench.Document) figure {
	var l lines
	for _, r := range results(docs, "state", "8+8/") {
		if !strings.HasSuffix(r.Name, "/snapshot/p99.9") {
			continue
		}
		x := number(r, "keys")
		l.add("statecow", 0, false, of(x, r.Ours))
		for i, b := range r.Baselines {
			l.add(b.Name, i+1, true, of(x, b.Summary))
		}
	}
	if len(l.list) == 0 {
		return nil
	}
	return &plot{
		file: "pause-by-keys", title: "Pause of a snapshot, p99.9, by the number of keys",
		note: "Keys and values of 8 bytes; a thousand updates between two snapshots.",
		X:    axis{Label: "keys", Unit: " ", Log: true}, Y: axis{Label: "pause", Unit: "s", Log: true}, Series: l.list,
	}
}

// recoveries plots the time from a kill to new output over the size of the state, or, for
// one size, how it was lost.
func recoveries(docs []*bench.Document) figure {
	var l lines
	b := &bars{
		file: "recovery", title: "From the kill to new output", note: "The page cache is warm.",
		Axis: axis{Label: "time", Unit: "s"},
	}
	sizes := map[float64]bool{}
	for _, r := range results(docs, "recovery", "") {
		if r.Metric != "time" {
			continue
		}
		x := number(r, "state_bytes")
		sizes[x] = true
		l.add(r.Name, -1, false, of(x, r.Ours))
		b.rows = append(b.rows, bar{label: fmt.Sprintf("%s, %s", r.Name, bench.Quantity(x, "B")), value: r.Ours.Median, low: r.Ours.Min, high: r.Ours.Max, text: bench.Quantity(r.Ours.Median, "s")})
		for i, base := range r.Baselines {
			b.rows = append(b.rows, bar{label: base.Name, value: base.Median, low: base.Min, high: base.Max, text: bench.Quantity(base.Median, "s"), colour: 7 - i})
		}
	}
	switch {
	case len(b.rows) == 0:
		return nil
	case len(sizes) == 1:
		return b
	}
	return &plot{
		file: "recovery-by-state", title: "From the kill to new output, by the size of the state", note: b.note,
		X: axis{Label: "keys and values", Unit: "B", Log: true}, Y: axis{Label: "time", Unit: "s", Log: true}, Series: l.list,
	}
}

// ratios shows the ratios of a document to its baselines.
func ratios(d *bench.Document) figure {
	b := &bars{
		file: "ratios-" + d.Suite, title: d.Suite + ": ours as a part of theirs", from: 1,
		note: "Bars begin at 1, the same as the baseline; green is better. Lines: the range of the pairs. Yellow: the goal. Ratios of nothing to nothing are left out.",
		Axis: axis{Label: "ratio to the baseline, median of the pairs", Log: true, Unit: ""},
	}
	for _, r := range d.Cases {
		if r.Metric == "allocations" {
			continue
		}
		for _, base := range r.Baselines {
			v := base.Ratio
			if !(v.Median > 0) || v.Max >= math.MaxFloat64 {
				continue
			}
			row := bar{label: r.Name + " / " + base.Name, value: v.Median, low: v.Min, high: v.Max, better: r.Better, text: fmt.Sprintf("x%.3g", v.Median)}
			if r.Goal != nil && r.Goal.Baseline == base.Name {
				row.goal = r.Goal.Ratio
			}
			b.rows = append(b.rows, row)
		}
	}
	if len(b.rows) == 0 {
		return nil
	}
	return b
}
