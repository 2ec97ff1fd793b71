package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job goes on until the test's end. It fails whenever fail is true, and begins again.
type job struct {
	h    *overtake.Handle
	done atomic.Uint64 // records
	fail atomic.Bool
}

func start(t *testing.T) *job {
	t.Helper()
	j := new(job)
	ctx, cancel := context.WithCancel(context.Background())
	g := overtake.NewJob("served", overtake.Options{
		Parallelism: 2, Network: overtake.Network{BufferSize: 1024, Memory: 1 << 20},
		Checkpoints: overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 5 * time.Millisecond},
		Restart:     overtake.Restart{Attempts: 1 << 20, Delay: time.Millisecond},
	})
	in := overtake.From(g, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: generate.Forever}), overtake.WithUID("in"))
	overtake.To(in.Rebalance(), memory.Func(func(uint64) error {
		j.done.Add(1)
		if j.fail.CompareAndSwap(true, false) {
			return errors.New("told to fail")
		}
		return nil
	}), overtake.WithUID("out"))
	var err error
	if j.h, err = g.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = j.h.Wait() // it was cancelled
	})
	return j
}

// served is a server of a job.
func served(t *testing.T, o serve.Options) (url string) {
	t.Helper()
	s := httptest.NewServer(serve.Handler(o))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s.URL
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func fixed() perf.JobSnapshot { return perf.JobSnapshot{Job: "fixed", Worker: 1, Workers: 3} }

func TestPathsAndMethods(t *testing.T) {
	url := served(t, serve.Options{Snapshot: fixed})
	for path, kind := range map[string]string{
		"/": "text/html", "/snapshot": "application/json", "/workers": "application/json", "/process": "application/json",
		"/healthz": "text/plain", "/metrics": "text/plain",
	} {
		resp, body := get(t, url+path)
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) || body == "" {
			t.Errorf("GET %s: %s, %q", path, resp.Status, resp.Header.Get("Content-Type"))
		}
		head, err := http.Head(url + path)
		if err != nil || head.StatusCode != http.StatusOK || !strings.HasPrefix(head.Header.Get("Content-Type"), kind) {
			t.Errorf("HEAD %s: %v, %v", path, head, err)
		}
		post, err := http.Post(url+path, "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		post.Body.Close()
		if post.StatusCode != http.StatusMethodNotAllowed || post.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %s, allows %q", path, post.Status, post.Header.Get("Allow"))
		}
	}
	for _, path := range []string{"/nothing", "/snapshot/", "/index.html", "/debug/pprof/", "/debug/pprof/profile"} {
		if resp, _ := get(t, url+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s", path, resp.Status)
		}
	}
}

func TestProfilesAreServedOnRequest(t *testing.T) {
	url := served(t, serve.Options{Snapshot: fixed, Profiles: true})
	if resp, body := get(t, url+"/debug/pprof/goroutine?debug=1"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "goroutine profile") {
		t.Errorf("%s: %.100s", resp.Status, body)
	}
}

func TestWhatAProcessAndItsWorkersAre(t *testing.T) {
	all := []string{"a:1", "b:2"}
	url := served(t, serve.Options{Snapshot: fixed, Workers: func() []string { return all }, Version: "v9"})
	var p serve.Process
	_, body := get(t, url+"/process")
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.PID != os.Getpid() || p.Binary == "" || p.Version != "v9" {
		t.Errorf("%s, %v", body, err)
	}
	if _, body := get(t, url+"/workers"); body != `["a:1","b:2"]`+"\n" {
		t.Error(body)
	}
	url = served(t, serve.Options{Snapshot: fixed})
	if _, body := get(t, url+"/workers"); body != `["`+strings.TrimPrefix(url, "http://")+`"]`+"\n" {
		t.Error(body)
	}
}

// The names are what other programs read; README and the page rely on them too.
func TestSnapshotsAreJSON(t *testing.T) {
	j := start(t)
	url := served(t, serve.Options{Snapshot: j.h.Snapshot})
	for j.done.Load() < 1000 {
		time.Sleep(time.Millisecond)
	}
	resp, body := get(t, url+"/snapshot")
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", resp.Header)
	}
	var doc struct {
		Job       string
		Operators []map[string]any
		Edges     []map[string]any
		Buffers   map[string]any
		Runtime   map[string]any
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil || doc.Job != "served" || len(doc.Operators) != 2 || len(doc.Edges) != 1 {
		t.Fatalf("%v\n%s", err, body)
	}
	subtask := doc.Operators[1]["subtasks"].([]any)[0].(map[string]any)
	for where, names := range map[*map[string]any][]string{
		&doc.Operators[0]: {"id", "name", "parallelism", "source"},
		&subtask:          {"index", "running", "wall_seconds", "busy_seconds", "idle_seconds", "backpressured_seconds", "blocked_seconds", "records_in", "queued_in"},
		&doc.Edges[0]:     {"from", "to", "pattern", "sent", "received", "queue_time", "credit_wait", "buffer_wait", "senders", "receivers"},
		&doc.Buffers:      {"segments", "in_use", "free", "pools"},
		&doc.Runtime:      {"gc_cpu_seconds", "total_cpu_seconds", "heap_bytes"},
	} {
		for _, name := range names {
			if _, ok := (*where)[name]; !ok {
				t.Errorf("no %q in %v", name, *where)
			}
		}
	}
	if _, metrics := get(t, url+"/metrics"); !strings.Contains(metrics, `job="served"`) || !strings.Contains(metrics, "go_goroutines ") {
		t.Errorf("%.2000s", metrics)
	}
}

// A client that reads nothing costs its own goroutine of the server, and nothing else.
func TestASlowClientDoesNotHoldTheJobUp(t *testing.T) {
	j := start(t)
	url := served(t, serve.Options{Snapshot: j.h.Snapshot})
	var conns []net.Conn
	for range 8 {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		request := strings.Repeat("GET /snapshot HTTP/1.1\r\nHost: x\r\n\r\n", 1000) // the answers fill what the kernel buffers
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
	}
	for before := j.done.Load(); j.done.Load() < before+10_000; {
		select {
		case <-j.h.Done():
			t.Fatal(j.h.Wait())
		case <-time.After(time.Millisecond):
		}
	}
	if resp, _ := get(t, url+"/snapshot"); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	for _, c := range conns {
		c.Close()
	}
}

func TestScrapesWhileTheJobRestarts(t *testing.T) {
	j := start(t)
	url := served(t, serve.Options{Snapshot: j.h.Snapshot})
	stop := make(chan struct{})
	var scrapers sync.WaitGroup
	for _, path := range []string{"/snapshot", "/snapshot", "/metrics", "/metrics"} {
		scrapers.Go(func() {
			for restarts := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := http.Get(url + path)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s, %v\n%.500s", path, resp.Status, err, b)
					return
				}
				var s perf.JobSnapshot
				if path == "/snapshot" && (json.Unmarshal(b, &s) != nil || len(s.Operators) != 2 || s.Restarts < restarts) {
					t.Errorf("%.500s", b)
					return
				}
				restarts = s.Restarts
			}
		})
	}
	for want := 1; want <= 20; want++ {
		j.fail.Store(true)
		for j.h.Restarts() < want && !t.Failed() {
			select {
			case <-j.h.Done():
				t.Error(j.h.Wait())
			case <-time.After(time.Millisecond):
			}
		}
	}
	close(stop)
	scrapers.Wait()
}
