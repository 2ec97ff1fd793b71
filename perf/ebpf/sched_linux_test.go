//go:build linux && (amd64 || arm64)

package ebpf

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

func TestRunQueue(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	r, err := RunQueue(t.Context(), []int{send.Process.Pid, receive.Process.Pid}, 500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if r.Waits == nil {
		t.Skipf("SKIPPED: %v", r.Refusals)
	}
	if r.Waits.Count() < 100 || r.Waits.Quantile(0.5) <= 0 || r.Waits.Quantile(0.5) > r.Waits.Quantile(0.99) {
		t.Errorf("%d waits, p50 %v, p99 %v", r.Waits.Count(), r.Waits.Quantile(0.5), r.Waits.Quantile(0.99))
	}
	for _, p := range r.Processes {
		if p.NA == "" && (p.Ran == 0 || p.Slices == 0) {
			t.Errorf("%+v", p)
		}
	}
}

func TestOffCPU(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	r, err := OffCPU(t.Context(), []int{send.Process.Pid, receive.Process.Pid}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Refusals) > 0 {
		t.Skipf("SKIPPED: %v", r.Refusals)
	}
	if r.Idle == 0 {
		t.Error("no thread was idle")
	}
	var folded bytes.Buffer
	if err := r.Folded(&folded); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(folded.String(), "(*childConfig).") {
		t.Errorf("the stacks do not name the child's functions:\n%s", folded.String())
	}
	for _, s := range r.Stacks {
		if slices.Contains(s.Frames, "runtime.findRunnable") {
			t.Errorf("an idle thread: %v", s.Frames)
		}
	}
	checkProfile(t, r)
}

func checkProfile(t *testing.T, r *OffCPUReport) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Profile(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got, want int64
	for _, s := range p.Sample {
		got += s.Value[1]
	}
	for _, s := range r.Stacks {
		want += int64(s.Time)
	}
	if got != want || len(p.Sample) != len(r.Stacks) {
		t.Errorf("the profile has %d ns in %d stacks, want %d in %d", got, len(p.Sample), want, len(r.Stacks))
	}
}

// Histograms alone: no process is trapped.
func TestHistogramsAlone(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	r, err := Latency(t.Context(), []int{send.Process.Pid, receive.Process.Pid}, 500*time.Millisecond,
		LatencyOptions{NoEvents: true, Histograms: true, SystemCalls: true})
	if err != nil {
		t.Fatal(err)
	}
	needTier(t, r.Tier, TierA, r.Refusals)
	if r.Cost.Events != 0 || r.Cost.Traps != 0 {
		t.Errorf("events: %+v", r.Cost)
	}
	for _, h := range r.Histograms {
		t.Logf("%s: %d, p50 <= %v, p99 <= %v", h.Name, h.Count(), h.Quantile(0.5), h.Quantile(0.99))
	}
	if len(r.Histograms) != len(spans) {
		t.Errorf("%d histograms", len(r.Histograms))
	}
}

// One process is enough: the other one is found.
func TestPeersAreFound(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	for _, pid := range []int{send.Process.Pid, receive.Process.Pid} {
		got, err := peers(t.Context(), []int{pid})
		if err != nil {
			t.Fatal(err)
		}
		if want := send.Process.Pid + receive.Process.Pid - pid; !slices.Contains(got, want) {
			t.Errorf("peers of %d: %v, want %d", pid, got, want)
		}
	}
}

func TestConns(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	conns, err := Conns(t.Context(), []int{send.Process.Pid, receive.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if len(conns) != 2 || conns[0].Local != conns[1].Remote || conns[0].Cookie == conns[1].Cookie {
		t.Fatalf("%+v", conns)
	}
	for _, c := range conns {
		if c.State != "established" || c.RTT <= 0 || c.Window == 0 || c.Limit() == "" {
			t.Errorf("%+v", c)
		}
	}
	if _, err := Conns(t.Context(), []int{1 << 30}); err == nil {
		t.Error("a process that is not there has connections")
	}
}
