package bench_test

import (
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/perf"
)

func TestAccountsThatDoNotAddUpAreReported(t *testing.T) {
	snapshot := func(wall, busy, idle, backpressured, blocked float64) *perf.JobSnapshot {
		sub := perf.SubtaskSnapshot{Index: 1, Wall: wall, Busy: busy, Idle: idle, Backpressured: backpressured, Blocked: blocked}
		return &perf.JobSnapshot{Measured: true, Operators: []perf.OperatorSnapshot{{Name: "map", Subtasks: []perf.SubtaskSnapshot{{}, sub}}}}
	}
	for _, right := range []*perf.JobSnapshot{snapshot(10, 5, 3, 2, 1), snapshot(10, 5, 3, 2.09, 2.09), snapshot(0, 0, 0, 0, 0)} {
		if err := bench.CheckAccounts(right); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []*perf.JobSnapshot{snapshot(10, 5, 3, 1.8, 0), snapshot(10, 6, 3, 2, 0), snapshot(10, 5, 3, 2, 2.2), snapshot(0, 1, 0, 0, 0)} {
		if err := bench.CheckAccounts(wrong); err == nil || !strings.Contains(err.Error(), "map[1]") {
			t.Errorf("%v for %+v", err, wrong.Operators[0].Subtasks[1])
		}
		wrong.Measured = false
		if err := bench.CheckAccounts(wrong); err != nil {
			t.Errorf("without an account: %v", err)
		}
	}
}
