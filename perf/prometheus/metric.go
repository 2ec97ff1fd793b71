package prometheus

import (
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/overtake-stream/overtake/perf"
)

// Metric describes a metric. All have the labels job and worker besides Labels.
type Metric struct {
	Name   string
	Type   string // "counter", "gauge", "histogram"
	Labels []string
	Help   string
}

// Metrics are all that a Collector exports, in the order of docs/METRICS.md.
func Metrics() (list []Metric) {
	for _, m := range metrics() {
		list = append(list, m.Metric)
	}
	return list
}

// metric is a row of the table of metrics.
type metric struct {
	Metric
	collect func(s *perf.JobSnapshot, out *sink)
}

func (m *metric) kind() prom.ValueType {
	if m.Type == counter {
		return prom.CounterValue
	}
	return prom.GaugeValue
}

// The types of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// metrics is the table.
func metrics() (list []metric) {
	list = append(list, jobMetrics()...)
	list = append(list, subtaskMetrics()...)
	list = append(list, edgeMetrics()...)
	list = append(list, bufferMetrics()...)
	list = append(list, networkMetrics()...)
	return append(list, checkpointMetrics()...)
}

func jobMetrics() []metric {
	return []metric{
		{Metric{"overtake_job_running", gauge, nil, "1 until the job has ended, then 0."},
			func(s *perf.JobSnapshot, out *sink) { out.value(flag(!s.Ended)) }},
		{Metric{"overtake_job_restarts_total", counter, nil, "How often the job was restarted after a failure. The counters of subtasks, edges and the network begin anew then."},
			func(s *perf.JobSnapshot, out *sink) { out.value(float64(s.Restarts)) }},
		{Metric{"overtake_latency_seconds", histogram, []string{"source", "operator"}, "Time of latency markers from a source to an operator, all of its subtasks on this worker. Needs latency markers."},
			latencies},
	}
}

// latencies merges those of an operator's subtasks.
func latencies(s *perf.JobSnapshot, out *sink) {
	type pair struct{ source, operator string }
	merged := map[pair]perf.Distribution{}
	for _, l := range s.Latencies {
		p := pair{l.Source, l.Operator}
		merged[p] = merged[p].Merge(l.Times)
	}
	for p, d := range merged {
		out.times(d, p.source, p.operator)
	}
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
