package main

import (
	"strings"
	"testing"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/perf"
)

func TestPrintLatencies(t *testing.T) {
	times := func(values ...int64) *perf.Snapshot {
		var h perf.Histogram
		for _, v := range values {
			h.Record(v)
		}
		s := h.Snapshot()
		return &s
	}
	var out strings.Builder
	printLatencies(&out, []overtake.LatencyStats{
		{Source: "in", Operator: "in", Times: times(7)},
		{Source: "in", Operator: "out", Sink: true, Times: times(100, 120), OffsetError: 3 * time.Microsecond, Lost: 1},
		{Source: "in", Operator: "out", Subtask: 1, Sink: true, Times: times(50), OffsetError: time.Microsecond, Lost: 2},
		{Source: "in", Operator: "log", Sink: true, Times: times(9)},
	})
	want := `latency in -> out: n=3 p50=100ns p90=120ns p99=120ns p99.9=120ns max=120ns, give or take 3µs, 3 markers lost before clocks were compared
latency in -> log: n=1 p50=9ns p90=9ns p99=9ns p99.9=9ns max=9ns
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
