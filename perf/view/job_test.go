package view_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
	"github.com/overtake-stream/overtake/perf/view"
)

// listen serves until the test ends, and returns the address.
func listen(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestAJobIsFoundByOneOfItsWorkers(t *testing.T) {
	var all []string
	for i := range 3 {
		all = append(all, listen(t, serve.Handler(serve.Options{
			Snapshot: func() perf.JobSnapshot { return perf.JobSnapshot{Worker: i} }, Workers: func() []string { return all },
		})))
	}
	j, err := view.OpenJob(context.Background(), all[1])
	if err != nil {
		t.Fatal(err)
	}
	pids, err := j.Processes()
	if me := os.Getpid(); err != nil || fmt.Sprint(pids) != fmt.Sprint([]int{me, me, me}) {
		t.Errorf("%v, %v", pids, err)
	}
	list, err := j.Snapshots(context.Background())
	if err != nil || len(list) != 3 || list[2].Worker != 2 {
		t.Errorf("%v, %+v", err, list)
	}
}

func TestWhatIsNoJobIsSaid(t *testing.T) {
	answer := func(workers, process string) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("/workers", func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, strings.ReplaceAll(workers, "SELF", r.Host))
		})
		mux.HandleFunc("/process", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, process) })
		return mux
	}
	linux := func(want string) string {
		if _, err := os.Stat("/proc/self/exe"); err != nil {
			return "" // it cannot be told
		}
		return want
	}
	for name, c := range map[string]struct {
		addr, want string
	}{
		"another server": {listen(t, http.NotFoundHandler()), "404"},
		"no JSON":        {listen(t, answer("<html>", "")), "not understood"},
		"no workers":     {listen(t, answer("[]", "")), "no workers"},
		"nobody":         {"127.0.0.1:1", "--listen"},
		"no address":     {"a b", "HOST:PORT"},
		"no process":     {listen(t, answer(`["SELF"]`, `{}`)), "which process"},
		"elsewhere":      {listen(t, answer(`["SELF"]`, `{"pid":2147483647,"binary":"/bin/x"}`)), linux("not on this machine")},
		"a stranger":     {listen(t, answer(`["SELF"]`, fmt.Sprintf(`{"pid":%d,"binary":"/bin/x"}`, os.Getpid()))), linux("but here that process runs")},
	} {
		j, err := view.OpenJob(context.Background(), c.addr)
		if err == nil {
			_, err = j.Processes()
		}
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
