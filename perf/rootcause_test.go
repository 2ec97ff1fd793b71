package perf_test

import (
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/perf"
)

// shares are a subtask's busy and backpressured percent; the rest is idle.
type shares struct{ busy, backpressured float64 }

func operator(id string, subtasks ...shares) perf.OperatorSnapshot {
	o := perf.OperatorSnapshot{ID: id, Name: "the " + id, Parallelism: max(1, len(subtasks))}
	for i, s := range subtasks {
		o.Subtasks = append(o.Subtasks, perf.SubtaskSnapshot{
			Index: i, Wall: 10, Busy: s.busy / 10, Backpressured: s.backpressured / 10, Idle: 10 - (s.busy+s.backpressured)/10,
		})
	}
	return o
}

// edges reads "a>b b>c".
func edges(list string) (all []perf.EdgeSnapshot) {
	for _, e := range strings.Fields(list) {
		from, to, _ := strings.Cut(e, ">")
		all = append(all, perf.EdgeSnapshot{From: from, To: to})
	}
	return all
}

func TestRootCause(t *testing.T) {
	type operators = []perf.OperatorSnapshot
	for name, c := range map[string]struct {
		operators operators
		edges     string
		want      string // its ID; empty: none
		why       string // a part of Why
	}{
		"slow sink": {
			operators{operator("a", shares{10, 90}), operator("b", shares{5, 95}), operator("c", shares{100, 0})},
			"a>b b>c", "c", "busy for 100% of its time",
		},
		"slow in the middle": {
			operators{operator("a", shares{10, 90}), operator("b", shares{99, 0}), operator("c", shares{10, 0})},
			"a>b b>c", "b", "waits for at least 90%",
		},
		"two are busy, the later one holds up": {
			operators{operator("a", shares{20, 80}), operator("b", shares{60, 40}), operator("c", shares{95, 0})},
			"a>b b>c", "c", "",
		},
		"a hot key": {
			operators{operator("a", shares{20, 80}), operator("b", shares{5, 0}, shares{98, 2}, shares{4, 0})},
			"a>b", "b", "subtask 1 alone is busy for 98%: the load is skewed",
		},
		"nothing is held up": {
			operators{operator("a", shares{100, 0}), operator("b", shares{30, 0})}, "a>b", "", "no operator waits for output",
		},
		"a busy source": {
			operators{operator("a", shares{100, 0}), operator("b", shares{100, 0})}, "a>b", "", "no operator waits for output",
		},
		"everybody waits for the network": {
			operators{operator("a", shares{10, 90}), operator("b", shares{10, 0})}, "a>b", "", `"the a" waits for output for 90%`,
		},
		"one of two inputs is not held up": {
			operators{operator("a", shares{10, 90}), operator("b", shares{10, 0}), operator("c", shares{95, 0})},
			"a>c b>c", "", `"the a" waits for output`,
		},
		"a join holds up both": {
			operators{operator("a", shares{10, 90}), operator("b", shares{10, 50}), operator("c", shares{95, 0})},
			"a>c b>c", "c", "waits for at least 50%",
		},
		"one of two branches": {
			operators{operator("a", shares{10, 90}), operator("b", shares{10, 0}), operator("c", shares{95, 0})},
			"a>b a>c", "c", "",
		},
		"on another worker": {
			operators{operator("a", shares{10, 90}), operator("b")}, "a>b", "b", "on other workers",
		},
		"subtasks that have not run": {
			operators{operator("a", shares{10, 90}), {ID: "b", Subtasks: []perf.SubtaskSnapshot{{Index: 0}}}}, "a>b", "", `"the a" waits for output`,
		},
		"no operators": {nil, "", "", "no operator waits"},
	} {
		t.Run(name, func(t *testing.T) {
			s := perf.JobSnapshot{Measured: true, Operators: c.operators, Edges: edges(c.edges)}
			got, ok := s.RootCause()
			if got.Operator != c.want || ok != (c.want != "") || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v, %v, want %q because %q", got, ok, c.want, c.why)
			}
			if ok && got.Name != "the "+c.want {
				t.Errorf("its name is %q", got.Name)
			}
		})
	}
}

func TestRootCauseWithoutMeasurements(t *testing.T) {
	var s perf.JobSnapshot
	if c, ok := s.RootCause(); ok || !strings.Contains(c.Why, "noperf") {
		t.Errorf("%+v, %v, want none", c, ok)
	}
}
