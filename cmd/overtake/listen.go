package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/perf/serve"
)

// listenFlags say where a running job can be watched.
type listenFlags struct {
	Listen  string `help:"Serve what the job does over HTTP, for \"overtake top\", \"overtake perf\", browsers (/) and Prometheus (/metrics): an address, or a port of 127.0.0.1. With --processes, worker I has the port I above it. There is no password: mind who can reach it." placeholder:"[HOST:]PORT"`
	Profile bool   `help:"Also serve Go's profiles at /debug/pprof/ of --listen." name:"listen-pprof"`
}

// at returns the address for a worker, "" for none.
func (f listenFlags) at(worker, processes int) (string, error) {
	if f.Listen == "" {
		return "", nil
	}
	host, port := "127.0.0.1", f.Listen
	if i := strings.LastIndexByte(f.Listen, ':'); i >= 0 {
		host, port = strings.Trim(f.Listen[:i], "[]"), f.Listen[i+1:]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("--listen %s: %q is no port: write HOST:PORT, or a port of 127.0.0.1; a port is a number from 0 (any that is free) to 65535", f.Listen, port)
	}
	if processes > 1 && (n == 0 || int(n)+processes > 1<<16) {
		return "", fmt.Errorf("--listen %s: each of the %d processes needs a port of its own, from this one on: name one from 1 to %d",
			f.Listen, processes, 1<<16-processes)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(n)+worker)), nil
}

// endpoint is the HTTP server of a job. A nil *endpoint is none.
type endpoint struct {
	l    net.Listener
	srv  *http.Server
	done chan error

	asked atomic.Int64  // when somebody last asked for a snapshot, Unix time in nanoseconds
	told  chan struct{} // has something once somebody who watches has been told that the job has ended
}

// While somebody watches, that is, has asked within watching, the endpoint stays for up
// to lastLook after the job's end, so that they learn of it.
const (
	watching = 3 * time.Second
	lastLook = 1500 * time.Millisecond
)

// open takes the address; nothing is served yet. It comes before the job, so that a job
// that cannot be watched as asked does not start.
func (f jobFlags) open() (*endpoint, error) {
	at, err := f.at(overtake.CopyIndex(), f.Processes)
	if err != nil || at == "" {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w: %s", err, listenAdvice(err))
	}
	return &endpoint{l: l, done: make(chan error, 1), told: make(chan struct{}, 1)}, nil
}

// listenAdvice says what to do about an address that cannot be had.
func listenAdvice(err error) string {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("%q is no name of this machine: name one of its addresses, or only a port for 127.0.0.1", unknown.Name)
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program listens there, perhaps another job: name another port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "no network interface of this machine has that address: name one of its own, or only a port for 127.0.0.1"
	case errors.Is(err, os.ErrPermission):
		return "a port below 1024 needs root or CAP_NET_BIND_SERVICE: name one from 1024 on"
	}
	return "name another address or port"
}

// newServer serves answers to clients that take their time, but not for ever. What is slow
// on purpose, like a profile, gets its own time on top of WriteTimeout from net/http/pprof.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
}

// serve begins to answer for a job.
func (e *endpoint) serve(env *env, f jobFlags, h *overtake.Handle) {
	if e == nil {
		return
	}
	e.srv = newServer(e.watched(h.Done(), serve.Handler(serve.Options{
		Snapshot: h.Snapshot, Workers: func() []string { return f.endpoints(e.l.Addr().String()) },
		Profiles: f.listenFlags.Profile, Version: version(),
	})))
	if !overtake.IsCopy() {
		env.log.Info("watch this job", "url", "http://"+e.l.Addr().String()+"/", "top", "overtake top --addr "+e.l.Addr().String())
	}
	go func() { e.done <- e.srv.Serve(e.l) }()
}

// watched takes note of who asks for snapshots.
func (e *endpoint) watched(ended <-chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		over := false
		if r.URL.Path == "/snapshot" {
			e.asked.Store(time.Now().UnixNano())
			select {
			case <-ended:
				over = true
			default:
			}
		}
		next.ServeHTTP(w, r)
		if over {
			select {
			case e.told <- struct{}{}:
			default:
			}
		}
	})
}

// tell waits until a watcher has learnt of the end, if there is one, but not for long.
func (e *endpoint) tell() {
	if overtake.IsCopy() || time.Since(time.Unix(0, e.asked.Load())) > watching {
		return // the first worker tells of the whole job
	}
	select {
	case <-e.told:
	case <-time.After(lastLook):
	}
}

// endpoints are the addresses of all workers, as far as they are known.
func (f jobFlags) endpoints(own string) []string {
	if f.Processes <= 1 || overtake.IsCopy() {
		return []string{own}
	}
	all := make([]string, f.Processes)
	for i := range all {
		all[i], _ = f.at(i, f.Processes) // the flags were fine when this one was opened
	}
	return all
}

// close lets answers end that are under way. The job has ended, or did not start.
func (e *endpoint) close() {
	if e == nil {
		return
	}
	if e.srv == nil {
		e.l.Close()
		return
	}
	e.tell()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := e.srv.Shutdown(ctx); err != nil {
		e.srv.Close()
	}
	if err := <-e.done; err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, "overtake: the HTTP server:", err)
	}
}
