package serve

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"os"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/prometheus"
	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options say what a handler serves.
type Options struct {
	// Snapshot is called for each request, by its goroutine, but only for a few at the
	// same time: it may need much memory meanwhile. Required.
	Snapshot func() perf.JobSnapshot

	// Workers returns the addresses (host:port) of all workers' endpoints, by worker.
	// Default: the address that the request was sent to.
	Workers func() []string

	// Profiles serves Go's profiles below /debug/pprof/. Taking them slows the job down.
	Profiles bool

	Version string // of the program, for Process
}

// Process is the process that serves.
type Process struct {
	PID     int    `json:"pid"`
	Binary  string `json:"binary"` // path; empty: unknown
	Version string `json:"version"`
}

//go:embed page.html
var page []byte

// atOnce is how many snapshots are taken at the same time.
const atOnce = 4

// inTurn lets further requests wait.
func inTurn(snapshot func() perf.JobSnapshot) func() perf.JobSnapshot {
	turns := make(chan struct{}, atOnce)
	return func() perf.JobSnapshot {
		turns <- struct{}{}
		defer func() { <-turns }()
		return snapshot()
	}
}

// Handler returns a handler for a job. Mount it at the root, or behind http.StripPrefix.
func Handler(o Options) http.Handler {
	o.Snapshot = inTurn(o.Snapshot)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page) // who has gone away needs no answer
	})
	mux.HandleFunc("GET /snapshot", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.Snapshot()) })
	mux.HandleFunc("GET /workers", func(w http.ResponseWriter, r *http.Request) { answer(w, o.workers(r)) })
	mux.HandleFunc("GET /process", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.process()) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.Handle("GET /metrics", metrics(o.Snapshot))
	if o.Profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// metrics has a registry of its own: a host with one registers prometheus.NewCollector there.
func metrics(snapshot func() perf.JobSnapshot) http.Handler {
	r := prom.NewRegistry()
	r.MustRegister(prometheus.NewCollector(snapshot), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

func (o *Options) workers(r *http.Request) []string {
	if o.Workers == nil {
		return []string{r.Host}
	}
	return o.Workers()
}

func (o *Options) process() Process {
	binary, _ := os.Executable() // unknown is an answer
	return Process{PID: os.Getpid(), Binary: binary, Version: o.Version}
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "encoding the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(b, '\n')) // who has gone away needs no answer
}
