package prometheus

import (
	"strconv"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/overtake-stream/overtake/perf"
)

// Collector is a prometheus.Collector of a job.
type Collector struct {
	snapshot func() perf.JobSnapshot
	metrics  []metric
	descs    []*prom.Desc // by metric
}

var _ prom.Collector = (*Collector)(nil)

// NewCollector returns a collector that takes a snapshot for each scrape. snapshot,
// usually Handle.Snapshot, is called by any goroutine.
func NewCollector(snapshot func() perf.JobSnapshot) *Collector {
	c := &Collector{snapshot: snapshot, metrics: metrics()}
	for i := range c.metrics {
		m := &c.metrics[i]
		c.descs = append(c.descs, prom.NewDesc(m.Name, m.Help, append([]string{"job", "worker"}, m.Labels...), nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prom.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prom.Metric) {
	s := c.snapshot()
	for i := range c.metrics {
		m := &c.metrics[i]
		out := sink{ch: ch, desc: c.descs[i], kind: m.kind(), own: []string{s.Job, strconv.Itoa(s.Worker)}}
		m.collect(&s, &out)
	}
}

// sink takes the values of one metric.
type sink struct {
	ch   chan<- prom.Metric
	desc *prom.Desc
	kind prom.ValueType
	own  []string // values of the labels that all metrics have
}

func (o *sink) value(v float64, labels ...string) {
	m, err := prom.NewConstMetric(o.desc, o.kind, v, o.with(labels)...)
	o.send(m, err)
}

// times exports a distribution as a classic histogram.
func (o *sink) times(d perf.Distribution, labels ...string) {
	bounds := Bounds()
	counts := make(map[float64]uint64, len(bounds))
	n, rest := uint64(0), d.Buckets
	for _, bound := range bounds {
		for len(rest) > 0 && rest[0].Below <= bound*(1+1e-9) {
			n, rest = n+rest[0].Count, rest[1:]
		}
		counts[bound] = n
	}
	m, err := prom.NewConstHistogram(o.desc, d.Count, d.Sum, counts, o.with(labels)...)
	o.send(m, err)
}

func (o *sink) with(labels []string) []string { return append(o.own[:2:2], labels...) }

// send fails the scrape with the error, if there is one: a label that is not UTF-8.
func (o *sink) send(m prom.Metric, err error) {
	if err != nil {
		m = prom.NewInvalidMetric(o.desc, err)
	}
	o.ch <- m
}

// Bounds are the upper bounds of the buckets of all histograms, in seconds: powers of
// four nanoseconds, from about a microsecond to about a minute.
func Bounds() (list []float64) {
	for shift := 10; shift <= 36; shift += 2 {
		list = append(list, float64(uint64(1)<<shift)*1e-9)
	}
	return list
}
