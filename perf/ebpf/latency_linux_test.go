//go:build linux && (amd64 || arm64)

package ebpf

import (
	"context"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf/probe"
)

func TestTwoProcesses(t *testing.T) {
	receive, send := startPair(t, nil, nil)
	messages := 0
	r, err := Latency(context.Background(), []int{send.Process.Pid, receive.Process.Pid}, 2*time.Second, LatencyOptions{
		Rate: probe.Every64,
		OnMessage: func(m *Message) {
			messages++
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v %+v", r.MatchCounts, r.Cost)
	t.Log(r.Refusals)
	for _, e := range r.Edges {
		t.Logf("%d → %d, %d channels, total %v", e.Sender, e.Receiver, e.Channels, e.Total)
		for _, s := range e.Stages {
			t.Logf("%-14v n=%6d p50=%8v p99=%8v mean=%8v %4.1f%%", s.Stage, s.Count, s.P50, s.P99, s.Mean, s.Share*100)
		}
		t.Log(e.Blame)
	}
}

func TestCheck(t *testing.T) {
	s, err := Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", s)
}
