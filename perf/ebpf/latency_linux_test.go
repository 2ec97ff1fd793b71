//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

// measure follows what goes from one child to the other.
func measure(t *testing.T, send, receive *process, d time.Duration, opts LatencyOptions) *LatencyReport {
	t.Helper()
	return measureUntil(t.Context(), t, send, receive, d, opts)
}

// measureUntil does so at most until ctx ends.
func measureUntil(ctx context.Context, t *testing.T, send, receive *process, d time.Duration, opts LatencyOptions) *LatencyReport {
	t.Helper()
	check, attached := opts.OnMessage, opts.OnAttached
	opts.OnAttached = func() {
		send.begin()
		if attached != nil {
			attached()
		}
	}
	opts.OnMessage = func(m *Message) {
		if got := time.Duration(m.Ended - m.Opened); got != m.Total() {
			t.Errorf("message %d: stages add up to %v of %v: %v", m.Sequence, m.Total(), got, m.Spent)
		}
		if check != nil {
			check(m)
		}
	}
	r, err := Latency(ctx, []int{send.Process.Pid, receive.Process.Pid}, d, opts)
	if err != nil {
		t.Fatal(err)
	}
	needTier(t, r.Tier, TierA, r.Refusals)
	logReport(t, r)
	return r
}

// needTier skips loudly.
func needTier(t *testing.T, got, want Tier, refusals []Refusal) {
	t.Helper()
	if got < want {
		t.Skipf("SKIPPED: needs tier %v, but the kernel gives %v: %v", want, got, refusals)
	}
}

func logReport(t *testing.T, r *LatencyReport) {
	t.Helper()
	for i := range r.Edges {
		e := &r.Edges[i]
		t.Logf("%d → %d, %d channels: %d messages, p50 %v, p99 %v, mean %v", e.Sender, e.Receiver, e.Channels,
			e.Total.Count, e.Total.P50, e.Total.P99, e.Total.Mean)
		for _, s := range e.Stages {
			t.Logf("  %-14v n=%6d p50=%10v p99=%10v mean=%10v %4.1f%%", s.Stage, s.Count, s.P50, s.P99, s.Mean, s.Share*100)
		}
	}
	t.Logf("%s; %+v, drops %d, faults %d, cost %+v", r.Blame(), r.MatchCounts, r.Drops, r.Faults, r.Cost)
}

func TestTwoProcesses(t *testing.T) {
	receive, send := startPair(t, nil, []string{"-wait"})
	r := measure(t, send, receive, 2*time.Second, LatencyOptions{Rate: probe.Every64, SystemCalls: true, Histograms: true})
	wholeReport(t, r, 20)
	e := r.Edges[0]
	if e.row(GoEntry) == nil || e.row(GoScheduler) == nil {
		t.Error("stages of system calls are missing")
	}
	if len(r.Histograms) != 4 {
		t.Errorf("histograms: %+v", r.Histograms)
	}
}

// wholeReport checks that all messages were seen on their whole way.
func wholeReport(t *testing.T, r *LatencyReport, least uint64) {
	t.Helper()
	if r.Matched < least || r.Unmatched+r.Foreign+r.Disordered+r.Forgotten+r.Drops+r.Faults != 0 || r.Kernel != r.Matched {
		t.Errorf("%+v, drops %d, faults %d", r.MatchCounts, r.Drops, r.Faults)
	}
	if len(r.Edges) != 1 {
		t.Fatalf("%d edges", len(r.Edges))
	}
	e := r.Edges[0]
	for _, s := range []Stage{Fill, SendQueue, Batch, KernelSend, Decode, ReceiveQueue, Process} {
		if row := e.row(s); row == nil || row.Count == 0 {
			t.Errorf("stage %v is missing", s)
		}
	}
	if e.row(Network) != nil {
		t.Error("some messages were not seen in the kernel")
	}
}

func TestExchange(t *testing.T) {
	for name, args := range map[string][]string{"loop": nil, "goroutines": {"-goroutines"}} {
		t.Run(name, func(t *testing.T) {
			receive, send := startExchange(t, args...)
			r := measure(t, send, receive, time.Second, LatencyOptions{})
			wholeReport(t, r, 5)
		})
	}
}

func TestCheck(t *testing.T) {
	s, err := Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	needTier(t, s.Tier, TierA, s.Refusals)
	for _, c := range s.Costs {
		t.Logf("%s, %s: %.2f ns %s", c.Probe, c.When, c.Each, c.NA)
	}
}

// A second profiler at another rate is refused by the kernel, and says why.
func TestTwoRates(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	var second *LatencyReport
	r := measure(t, send, receive, 100*time.Millisecond, LatencyOptions{Rate: probe.Every64, OnAttached: func() {
		var err error
		second, err = Latency(t.Context(), []int{send.Process.Pid}, time.Millisecond, LatencyOptions{Rate: probe.Every1024})
		if err != nil {
			t.Error(err)
		}
	}})
	if second == nil || len(second.Refusals) == 0 || !strings.Contains(second.Refusals[0].Reason, "another rate") {
		t.Errorf("second: %+v", second)
	}
	if len(r.Refusals) != 0 {
		t.Errorf("first: %v", r.Refusals)
	}
}

// What a user sees who sees nothing.
func TestNothingIsExplained(t *testing.T) {
	needProbes(t)
	for name, c := range map[string]struct {
		receiver, sender []string
		rate             probe.Rate
		want             string
	}{
		"no traffic":   {nil, []string{"-wait", "-pause=1h", "-burst=0"}, probe.Every, "no traffic: nothing was sent over 1 connections in "},
		"slow":         {[]string{"-delay=1h"}, []string{"-wait", "-pause=1h", "-burst=5"}, probe.Every, "5 messages were still on their way after "},
		"none sampled": {nil, []string{"-wait", "-pause=1h", "-burst=5"}, probe.Every1024, "none was sampled in "},
	} {
		t.Run(name, func(t *testing.T) {
			receive, send := startPair(t, c.receiver, c.sender)
			r := measure(t, send, receive, 300*time.Millisecond, LatencyOptions{Rate: c.rate})
			if !strings.Contains(r.Blame(), c.want) {
				t.Errorf("%s, want %q", r.Blame(), c.want)
			}
		})
	}
	t.Run("one process", func(t *testing.T) {
		spin, _ := start(t, nil, "-role=spin")
		r, err := Latency(t.Context(), []int{spin.Process.Pid}, 10*time.Millisecond, LatencyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		needTier(t, r.Tier, TierA, r.Refusals)
		if !strings.Contains(r.Blame(), "no TCP connection with each other") {
			t.Error(r.Blame())
		}
	})
	t.Run("a process ends", func(t *testing.T) {
		receive, send := startPair(t, nil, []string{"-wait"})
		r, err := Latency(t.Context(), []int{send.Process.Pid, receive.Process.Pid}, time.Second, LatencyOptions{OnAttached: func() {
			_ = receive.Process.Kill()
			_ = receive.Wait() // it was killed
		}})
		if err != nil {
			t.Fatal(err)
		}
		needTier(t, r.Tier, TierA, r.Refusals)
		if want := fmt.Sprintf("process %d has ended meanwhile", receive.Process.Pid); !strings.Contains(r.Blame(), want) {
			t.Errorf("%s, want %q", r.Blame(), want)
		}
	})
}

// A kernel without BTF has no typed tracepoints: uprobes are left, and all that the kernel does is one
// stage. Without its file the library cannot load the former.
func TestTierB(t *testing.T) {
	const types = "/sys/kernel/btf/vmlinux"
	receive, send := startPair(t, nil, nil)
	out, err := exec.Command("unshare", "-m", "mount", "--bind", "/dev/null", types).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: %s cannot be hidden here: %v: %s", types, err, out)
	}
	if r := rootTier(t); r != TierA {
		t.Skipf("SKIPPED: the whole kernel has tier %v", r)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(cmd *exec.Cmd) {
		args := append([]string{"unshare", "-m", "sh", "-c", `mount --bind /dev/null "$0" && exec "$@"`, types, self}, cmd.Args[1:]...)
		if cmd.Path, err = exec.LookPath(args[0]); err != nil {
			t.Fatal(err)
		}
		cmd.Args = args
	}
	_, line := start(t, hidden, "-role=measure", fmt.Sprintf("-pids=%d,%d", send.Process.Pid, receive.Process.Pid))
	t.Log(line)
	var f found
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if f.Check != "B" || f.Matched == 0 || f.Kernel != 0 || !strings.Contains(f.Stages, "network") || strings.Contains(f.Stages, "kernel send") ||
		!strings.Contains(f.Stages, "decode") || !strings.Contains(f.Text, "tp_btf") {
		t.Errorf("%+v", f)
	}
	if f.WrongSums != 0 {
		t.Errorf("the stages of %d messages do not add up to their time", f.WrongSums)
	}
}
