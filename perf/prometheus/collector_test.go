package prometheus_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/connectors/generate"
	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/prometheus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running starts a job that goes on until its context ends, and waits until some records
// and a checkpoint have gone through.
func running(t *testing.T) *overtake.Handle {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	job := overtake.NewJob("metrics", overtake.Options{
		Parallelism: 2, LatencyMarkers: time.Millisecond, Network: overtake.Network{BufferSize: 1024, Memory: 1 << 20},
		Checkpoints: overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: 5 * time.Millisecond},
	})
	in := overtake.From(job, generate.Source(func(n uint64) uint64 { return n }, generate.Options{Count: generate.Forever}), overtake.WithUID("in"))
	timed := overtake.AssignTimes(in, func(uint64) int64 { return time.Now().UnixMilli() }, 0, overtake.WithUID("times"))
	last := overtake.Reduce(overtake.KeyBy(timed, func(v uint64) uint64 { return v % 7 }), func(_, b uint64) uint64 { return b }, overtake.WithUID("last"))
	var n atomic.Uint64
	overtake.To(last.Rebalance(), memory.Func(func(uint64) error { n.Add(1); return nil }), overtake.WithUID("out"))
	h, err := job.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = h.Wait() // it was cancelled
	})
	for n.Load() < 10_000 || len(h.Checkpoints()) == 0 || len(h.Latencies()) == 0 {
		select {
		case <-h.Done():
			t.Fatal(h.Wait())
		case <-time.After(time.Millisecond):
		}
	}
	return h
}

func TestCollectorOfARunningJob(t *testing.T) {
	h := running(t)
	registry := prom.NewPedanticRegistry()
	if err := registry.Register(prometheus.NewCollector(h.Snapshot)); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range families {
		found[f.GetName()] = strings.ToLower(f.GetType().String())
		for _, m := range f.GetMetric() {
			if hist := m.GetHistogram(); hist != nil && len(hist.GetBucket()) != len(prometheus.Bounds()) {
				t.Errorf("%s has %d buckets, want %d", f.GetName(), len(hist.GetBucket()), len(prometheus.Bounds()))
			}
		}
	}
	for _, m := range prometheus.Metrics() {
		if strings.HasPrefix(m.Name, "overtake_network_") {
			continue // there is one worker
		}
		if found[m.Name] != m.Type {
			t.Errorf("%s is a %q in the registry, want a %s", m.Name, found[m.Name], m.Type)
		}
	}
}

func TestValuesAreThoseOfTheSnapshot(t *testing.T) {
	var h perf.Histogram
	for _, v := range []int64{500, 2000, 5000, 1 << 40} {
		h.Record(v)
	}
	times := h.Snapshot()
	s := perf.JobSnapshot{
		Job: "j", Worker: 1, Restarts: 2,
		Operators: []perf.OperatorSnapshot{{ID: "op", Name: "op -> map", Subtasks: []perf.SubtaskSnapshot{
			{Index: 3, Busy: 1, Idle: 2, Backpressured: 4, Blocked: 1.5, RecordsIn: 7},
		}}},
		Edges: []perf.EdgeSnapshot{
			{From: "in", To: "op", QueueTime: times.Distribution(), Receivers: []perf.ReceiverSnapshot{{QueuedBuffers: 5}}},
			{From: "op", To: "elsewhere"},
		},
		Network: &perf.NetworkSnapshot{Reads: 9},
		Buffers: perf.BufferSnapshot{Free: 3, States: map[string]int{"queued": 2}},
	}
	c := prometheus.NewCollector(func() perf.JobSnapshot { return s })
	const want = `
# HELP overtake_buffer_segments The worker's network buffers by what they are used for; free: nothing, idle: they wait in a pool. The sum is constant, but figures are read one after the other.
# TYPE overtake_buffer_segments gauge
overtake_buffer_segments{job="j",state="free",worker="1"} 3
overtake_buffer_segments{job="j",state="queued",worker="1"} 2
# HELP overtake_edge_input_queue_buffers Buffers that have arrived and were not read.
# TYPE overtake_edge_input_queue_buffers gauge
overtake_edge_input_queue_buffers{from="in",input="0",job="j",to="op",worker="1"} 5
# HELP overtake_job_restarts_total How often the job was restarted after a failure. The counters of subtasks, edges and the network begin anew then.
# TYPE overtake_job_restarts_total counter
overtake_job_restarts_total{job="j",worker="1"} 2
# HELP overtake_network_reads_total Calls to read from connections to other workers.
# TYPE overtake_network_reads_total counter
overtake_network_reads_total{job="j",worker="1"} 9
# HELP overtake_subtask_time_seconds_total What a subtask has spent its time on: busy; idle, waiting for input; backpressured, waiting for output between two records (soft); blocked, waiting for output in the middle of one (hard). The sum is the wall time since its start.
# TYPE overtake_subtask_time_seconds_total counter
overtake_subtask_time_seconds_total{activity="backpressured",job="j",operator="op",subtask="3",worker="1"} 2.5
overtake_subtask_time_seconds_total{activity="blocked",job="j",operator="op",subtask="3",worker="1"} 1.5
overtake_subtask_time_seconds_total{activity="busy",job="j",operator="op",subtask="3",worker="1"} 1
overtake_subtask_time_seconds_total{activity="idle",job="j",operator="op",subtask="3",worker="1"} 2
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "overtake_buffer_segments", "overtake_edge_input_queue_buffers",
		"overtake_job_restarts_total", "overtake_network_reads_total", "overtake_subtask_time_seconds_total"); err != nil {
		t.Error(err)
	}
	wantHistogram(t, c)
}

// wantHistogram checks the buckets of queue times of 500, 2000, 5000 and 2^40 ns.
func wantHistogram(t *testing.T, c prom.Collector) {
	t.Helper()
	registry := prom.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "overtake_edge_queue_seconds" {
			continue
		}
		hist := f.GetMetric()[0].GetHistogram()
		var counts []string
		for _, b := range hist.GetBucket()[:4] {
			counts = append(counts, fmt.Sprintf("%.3g:%d", b.GetUpperBound(), b.GetCumulativeCount()))
		}
		last := hist.GetBucket()[len(hist.GetBucket())-1]
		if got := strings.Join(counts, " "); got != "1.02e-06:1 4.1e-06:2 1.64e-05:3 6.55e-05:3" || last.GetCumulativeCount() != 3 || hist.GetSampleCount() != 4 {
			t.Errorf("%s … %v of %d", got, last, hist.GetSampleCount())
		}
		return
	}
	t.Error("there is no overtake_edge_queue_seconds")
}

// TestMetricsAreDocumented compares docs/METRICS.md with the table of metrics.
func TestMetricsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- metrics: begin -->\n", "<!-- metrics: end -->"
	_, rest, ok := bytes.Cut(b, []byte(begin))
	got, _, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("docs/METRICS.md has no %q and %q", begin, end)
	}
	var want bytes.Buffer
	want.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range prometheus.Metrics() {
		labels := "`" + strings.Join(m.Labels, "`, `") + "`"
		if len(m.Labels) == 0 {
			labels = ""
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/METRICS.md differs from the table in the code. Between the two marks, it must say:\n%s", want.Bytes())
	}
}
