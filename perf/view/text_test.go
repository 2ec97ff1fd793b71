package view_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/overtake-stream/overtake/perf"
	"github.com/overtake-stream/overtake/perf/ebpf"
	"github.com/overtake-stream/overtake/perf/view"
)

// golden compares what is written with a file of testdata; with UPDATE=1 it writes that.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func times(count uint64, mean time.Duration) ebpf.Distribution {
	return ebpf.Distribution{Count: count, P50: mean, P99: 4 * mean, P999: 9 * mean, Max: 10 * mean, Mean: mean}
}

func refused() []ebpf.Refusal {
	return []ebpf.Refusal{{Part: "uprobes", Reason: "operation not permitted", Loses: "all stages", Remedy: "setcap cap_bpf,cap_perfmon+ep overtake"}}
}

func report() *ebpf.LatencyReport {
	trap, lost := 700*time.Nanosecond, 1400*time.Microsecond
	return &ebpf.LatencyReport{
		Tier: ebpf.TierA, Duration: 10 * time.Second,
		Edges: []ebpf.Edge{{
			Sender: 11, Receiver: 12, From: "127.0.0.1:7000", To: "127.0.0.1:7001", Channels: 4, Total: times(2000, 500*time.Microsecond),
			Stages: []ebpf.StageRow{
				{Stage: ebpf.Fill, Distribution: times(2000, 400*time.Microsecond), Share: 0.8},
				{Stage: ebpf.KernelSend, Distribution: times(2000, 99*time.Microsecond), Share: 0.198},
				{Stage: ebpf.Wake, Distribution: times(1500, time.Microsecond), Share: 0.002},
			},
			Missing: []ebpf.Stage{ebpf.Credit, ebpf.GoEntry}, Dominant: ebpf.Fill, Blame: "80% of it is fill",
		}},
		MatchCounts: ebpf.MatchCounts{Matched: 2000, Kernel: 1990, Unmatched: 1, InFlight: 2, Early: 3, Foreign: 4, Disordered: 5, Forgotten: 6},
		Drops:       7, Faults: 8,
		RunQueues: []ebpf.ProcessQueue{{PID: 11, Ran: time.Second, Waited: 20 * time.Millisecond, Slices: 300}, {PID: 12, NA: "no such process"}},
		Cost:      ebpf.OwnCost{CPU: 50 * time.Millisecond, Attach: 30 * time.Millisecond, Events: 9000, Traps: 4000, Trap: &trap, Lost: &lost},
	}
}

func histogram() *ebpf.Histogram {
	h := &ebpf.Histogram{Name: "run queue"}
	h.Buckets[10], h.Buckets[12], h.Buckets[13] = 4000, 1000, 1
	return h
}

func TestLatencyIsPrinted(t *testing.T) {
	r := report()
	r.Histograms = []ebpf.Histogram{*histogram()}
	r.Gone = []int{13}
	r.RunQueues = append(r.RunQueues, ebpf.ProcessQueue{PID: 13, NA: "no such file or directory"})
	golden(t, "latency.txt", func(w io.Writer) error { return view.WriteLatency(w, r) })
}

// What was not seen is n/a, and not 0.
func TestLatencyOfTierCHasNoZeros(t *testing.T) {
	r := &ebpf.LatencyReport{Duration: time.Second, Refusals: refused()}
	golden(t, "latency-c.txt", func(w io.Writer) error { return view.WriteLatency(w, r) })
}

func TestCheckIsPrinted(t *testing.T) {
	s := &ebpf.Support{Tier: ebpf.TierC, Kernel: "6.18", Refusals: refused(), Costs: []ebpf.Cost{
		{Probe: "gate", When: "always", Each: 0.268}, {Probe: "clock", When: "sometimes", Each: 24.4}, {Probe: "uprobe", When: "twice", NA: "operation not permitted"},
	}}
	golden(t, "check.txt", func(w io.Writer) error { return view.WriteCheck(w, s) })
}

func TestHistogramsArePrinted(t *testing.T) {
	golden(t, "runq.txt", func(w io.Writer) error {
		return view.WriteRunQueue(w, "process 11", &ebpf.RunQueueReport{Duration: time.Second, Waits: histogram(), Processes: report().RunQueues[:1]})
	})
	golden(t, "runq-c.txt", func(w io.Writer) error {
		return view.WriteRunQueue(w, "process 11", &ebpf.RunQueueReport{Duration: time.Second, Processes: report().RunQueues[:1], Refusals: refused()})
	})
	var all ebpf.Histogram
	all.Buckets[0], all.Buckets[63] = 1, 1
	if err := view.WriteHistogram(io.Discard, &all); err != nil {
		t.Error(err)
	}
	var s strings.Builder
	if err := view.WriteHistogram(&s, &ebpf.Histogram{}); err != nil || s.String() != "  none\n" {
		t.Errorf("%v, %q", err, s.String())
	}
}

func TestConnectionsArePrinted(t *testing.T) {
	c := ebpf.Connection{
		PID: 11, From: "127.0.0.1:7000", To: "127.0.0.1:7001", State: "established", RTT: 52 * time.Microsecond, MinRTT: 9 * time.Microsecond,
		Window: 10, Sent: 5 << 20, Received: 300, Unsent: 2048, Retransmits: 2, Busy: time.Second, WindowLimited: 750 * time.Millisecond,
	}
	idle := ebpf.Connection{PID: 12, From: c.To, To: c.From, State: "established"}
	old := ebpf.Connection{PID: 13, From: c.To, To: c.From, State: "established", Missing: []string{
		"cwnd", "sent_bytes", "received_bytes", "unsent_bytes", "retransmits", "busy_ns", "sndbuf_limited_ns"}}
	golden(t, "conns.txt", func(w io.Writer) error {
		return view.WriteConns(w, []view.Conn{{Connection: c, LimitedBy: c.Limit(), Channels: &perf.ConnectionSnapshot{Peer: 1, Cookie: 7, Channels: 4, Granted: 200, Credits: 3, StarvedChannels: 1, QueuedBuffers: 5, QueuedBytes: 150 << 10}}, {Connection: idle, LimitedBy: idle.Limit()}, {Connection: old, LimitedBy: old.Limit()}})
	})
}

// Two workers have an edge each; what was before does not count.
func TestAccountsAreOfAllWorkersAndOfTheTimeBetween(t *testing.T) {
	snapshot := func(buffers uint64, d perf.Distribution) perf.JobSnapshot {
		return perf.JobSnapshot{Job: "j", Measured: true, Edges: []perf.EdgeSnapshot{{From: "a", To: "b", Sent: perf.Traffic{Buffers: buffers}, FlushDelay: d,
			Senders: []perf.SenderSnapshot{{Credits: 2, StarvedChannels: 1}, {Credits: 3}}}}}
	}
	var h perf.Histogram
	h.Record(1000)
	s := h.Snapshot()
	early := s.Distribution()
	h.Record(1000)
	s = h.Snapshot()
	late := s.Distribution()
	list := view.Accounts([]perf.JobSnapshot{snapshot(10, early), snapshot(20, early)}, []perf.JobSnapshot{snapshot(11, late), snapshot(22, late)})
	if len(list) != 1 || list[0].Buffers != 3 || list[0].FlushDelay.Count != 2 {
		t.Fatalf("%+v", list)
	}
	golden(t, "accounts.txt", func(w io.Writer) error { return view.WriteAccounts(w, list) })
	one := snapshot(1, early)
	if l, ok := view.LevelOf(&one); !ok || l.Credits != 5 || l.Starved != 1 {
		t.Errorf("%+v, %v", l, ok)
	}
	if l, ok := view.LevelOf(&perf.JobSnapshot{Edges: []perf.EdgeSnapshot{{From: "a", To: "b"}}}); ok {
		t.Errorf("a worker that sends nothing has the level %+v", l)
	}
	if list := view.Accounts(nil, []perf.JobSnapshot{{Edges: one.Edges}}); len(list) != 0 {
		t.Errorf("an account of what was not measured: %+v", list)
	}
}
