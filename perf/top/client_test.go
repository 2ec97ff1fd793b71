package top_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
	"github.com/overtake-stream/overtake/perf/top"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workers serves the fixture's two workers; the first names both.
func workers(t *testing.T) (servers []*httptest.Server, addrs []string) {
	for i := range 2 {
		o := serve.Options{Snapshot: func() perf.JobSnapshot { return fixture(i, 5) }}
		if i == 0 {
			o.Workers = func() []string { return addrs }
		}
		s := httptest.NewServer(serve.Handler(o))
		t.Cleanup(s.Close)
		servers, addrs = append(servers, s), append(addrs, strings.TrimPrefix(s.URL, "http://"))
	}
	return servers, addrs
}

func read(t *testing.T, addrs ...string) (top.Reading, error) {
	c := top.NewClient(addrs...)
	defer c.Close()
	return c.Read(context.Background())
}

func TestClientFindsAllWorkers(t *testing.T) {
	_, addrs := workers(t)
	for name, given := range map[string][]string{"the first names the other": addrs[:1], "both given": addrs, "the same twice": {addrs[0], addrs[0]}} {
		r, err := read(t, given...)
		if err != nil || len(r.Workers) != 2 || r.Workers[0].Worker != 0 || r.Workers[1].Worker != 1 || len(r.Missing) != 0 {
			t.Errorf("%s: %d workers, missing %q, %v", name, len(r.Workers), r.Missing, err)
		}
	}
}

func TestClientGoesOnWithoutAWorker(t *testing.T) {
	servers, addrs := workers(t)
	c := top.NewClient(addrs[0])
	defer c.Close()
	if _, err := c.Read(context.Background()); err != nil {
		t.Fatal(err)
	}
	servers[1].Close()
	r, err := c.Read(context.Background())
	if err != nil || len(r.Workers) != 1 || len(r.Missing) != 1 || !strings.HasPrefix(r.Missing[0], addrs[1]+": ") {
		t.Errorf("%d workers, missing %q, %v", len(r.Workers), r.Missing, err)
	}
	servers[0].Close()
	if _, err := c.Read(context.Background()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
}

func TestClientSaysWhatIsNoEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"another server": {http.NotFound, "404"},
		"no JSON":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "not understood"},
	} {
		s := httptest.NewServer(c.handler)
		if _, err := read(t, s.Listener.Addr().String()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 1e7)
	defer cancel()
	client := top.NewClient(silent.Addr().String())
	defer client.Close()
	if _, err := client.Read(ctx); err == nil || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("%v", err)
	}
	if _, err := read(t, "no address"); err == nil {
		t.Error("no error")
	}
}

func TestFiguresAreJSON(t *testing.T) {
	b, err := json.Marshal(top.Compute(reading(5), reading(6)))
	var doc map[string]any
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	cause, _ := doc["root_cause"].(map[string]any)
	if err != nil || cause["operator"] != "totals" || cause["found"] != true || len(doc["operators"].([]any)) != 4 {
		t.Errorf("%v\n%s", err, b)
	}
}
