package serve_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/serve"
)

// A snapshot of a job with many subtasks takes megabytes while it is taken: a crowd of
// clients must not take them all at once.
func TestACrowdIsServedInTurn(t *testing.T) {
	var now, most atomic.Int64
	h := serve.Handler(serve.Options{Snapshot: func() perf.JobSnapshot {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(time.Millisecond) // so that others come meanwhile
		now.Add(-1)
		return perf.JobSnapshot{}
	}})
	var crowd sync.WaitGroup
	for i := range 100 {
		crowd.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, []string{"/snapshot", "/metrics"}[i%2], nil))
			if w.Code != http.StatusOK {
				t.Errorf("code %d", w.Code)
			}
		})
	}
	crowd.Wait()
	if most.Load() > 8 {
		t.Errorf("%d snapshots at once", most.Load())
	}
}
