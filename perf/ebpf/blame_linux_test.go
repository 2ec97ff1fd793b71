//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/overtake-stream/overtake/perf/probe"
)

// blamed measures and checks which stage is said to be the cause.
func blamed(t *testing.T, send, receive *process, d time.Duration, opts LatencyOptions, want ...Stage) *LatencyReport {
	t.Helper()
	r := measure(t, send, receive, d, opts)
	wantBlame(t, r, want...)
	return r
}

func wantBlame(t *testing.T, r *LatencyReport, want ...Stage) {
	t.Helper()
	e := r.Dominant()
	if e == nil {
		t.Fatalf("nothing was seen: %s", r.Blame())
	}
	if !slices.Contains(want, e.Dominant) {
		t.Errorf("blamed %v, want %v", e.Dominant, want)
	}
	if !strings.Contains(r.Blame(), e.Dominant.Blame()) {
		t.Errorf("blame %q", r.Blame())
	}
}

func TestBlameSlowConsumer(t *testing.T) {
	receive, send := startPair(t, []string{"-delay=50ms"}, []string{"-wait", "-burst=1", "-pause=30ms"})
	blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every}, ReceiveQueue)
}

func TestBlameStoppedReceiver(t *testing.T) {
	receive, send := startPair(t, nil, []string{"-wait", "-burst=1", "-size=64"})
	stopped := make(chan struct{})
	blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every, OnAttached: func() {
		go func() {
			defer close(stopped)
			_ = receive.Process.Signal(unix.SIGSTOP)
			time.Sleep(800 * time.Millisecond)
			_ = receive.Process.Signal(unix.SIGCONT)
		}()
	}}, Unread)
	<-stopped
}

// The receiver shares a processor with threads that compute, and has a low priority. It
// sleeps between messages, so that most wait in the run queue, and some wait again for the
// processor that it has lost before it has read them.
func TestBlameSaturatedProcessor(t *testing.T) {
	receive, send := startPair(t, nil, []string{"-wait", "-burst=1", "-pause=40ms"})
	spin, _ := start(t, nil, "-role=spin", "-spinners=4")
	for _, cmd := range []*process{spin, receive} {
		bind(t, cmd.Process.Pid, 0)
	}
	renice(t, receive.Process.Pid, 19)
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	messages := 0
	r := measureUntil(ctx, t, send, receive, time.Minute, LatencyOptions{Rate: probe.Every, OnMessage: func(*Message) {
		if messages++; messages == 30 {
			enough()
		}
	}})
	wantBlame(t, r, Runnable)
}

// bind moves all threads of a process to one processor.
func bind(t *testing.T, pid, cpu int) {
	t.Helper()
	var set unix.CPUSet
	set.Set(cpu)
	for _, tid := range threads(t, pid) {
		if err := unix.SchedSetaffinity(tid, &set); err != nil {
			t.Skipf("SKIPPED: sched_setaffinity: %v", err)
		}
	}
}

func renice(t *testing.T, pid, nice int) {
	t.Helper()
	for _, tid := range threads(t, pid) {
		if err := unix.Setpriority(unix.PRIO_PROCESS, tid, nice); err != nil {
			t.Skipf("SKIPPED: setpriority: %v", err)
		}
	}
}

// A socket that is paced lets fewer bytes out than are written to it.
func TestBlameThrottledSocket(t *testing.T) {
	receive, send := startPair(t, nil, []string{"-wait", "-burst=4", "-pacing=300000"})
	r := blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every64}, SocketQueue, KernelSend)
	conns := slices.DeleteFunc(r.Connections, func(c Connection) bool { return c.PID != send.Process.Pid })
	if len(conns) != 1 || conns[0].PacingRate != 300000 || conns[0].Unsent == 0 {
		t.Errorf("connections of the sender: %+v", conns)
	}
}

func TestBlameCredit(t *testing.T) {
	receive, send := startPair(t, []string{"-delay=2ms", "-window=4"}, []string{"-wait", "-burst=2", "-window=4"})
	r := blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every}, Credit)
	if !strings.Contains(r.Blame(), "behind it, ") {
		t.Errorf("no cause is named: %s", r.Blame())
	}
}

// The same with the real exchange.
func TestBlameExchange(t *testing.T) {
	receive, send := startExchange(t, "-delay=5ms", "-burst=1", "-size=20000")
	r := blamed(t, send, receive, 1500*time.Millisecond, LatencyOptions{Rate: probe.Every}, Credit, ReceiveQueue)
	wholeReport(t, r, 5)
}
