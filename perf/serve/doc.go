// Package serve tells others over HTTP what a running job does: programs that watch it,
// Prometheus, and people with a browser.
//
//	GET /           a page for people
//	GET /snapshot   perf.JobSnapshot of this worker, as JSON
//	GET /workers    the addresses of all workers' endpoints, as a JSON list
//	GET /process    Process, as JSON
//	GET /healthz    "ok"
//	GET /metrics    the same for Prometheus, with Go's and the process's own metrics
//
// A handler starts no goroutine and keeps nothing: each request takes a snapshot of its
// own. It asks for no password, so it belongs on a loopback address, or behind something
// that does.
package serve
