// Package prometheus exports snapshots of a running job to a Prometheus registry that
// the host has:
//
//	registry.MustRegister(prometheus.NewCollector(handle.Snapshot))
//
// A snapshot is taken for each scrape, and nothing between. docs/METRICS.md lists the
// metrics. Those of Go's runtime are not among them: client_golang has a collector of its
// own for these.
package prometheus
