package top_test

import (
	"math"
	"testing"

	"github.com/overtake-stream/overtake/perf/top"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9+0.001*math.Abs(want) }

func TestFiguresAreOfTheInterval(t *testing.T) {
	f := top.Compute(reading(5), reading(7))
	if f.Whole || f.Seconds != 2 || f.Workers != 2 || f.Answered != 2 || !f.At.Equal(start().Add(7e9)) {
		t.Errorf("%+v", f)
	}
	if c := f.RootCause; !c.Found || c.Operator != "totals" {
		t.Errorf("%+v", c)
	}
	o := f.Operators[0]
	if !near(o.RecordsIn, 240_000) || !near(o.Busy, 0.1) || !near(o.Soft, 0.5) || !near(o.Hard, 0.4) || !near(o.Idle, 0) || o.Running != 2 || len(o.Subtasks) != 2 {
		t.Errorf("%+v", o)
	}
	if last := f.Operators[3]; !last.Sink || last.Source || last.QueuedIn != 54 || last.Queued != 2*2*147 || !near(*last.Lag, 7.5) {
		t.Errorf("%+v", last)
	}
	e := f.Edges[1]
	if !near(e.Records, 240_000) || !near(e.CreditWaits, 60) || e.Credits != 4 || e.Starved != 2 || e.Channels != 4 || e.PoolHeld != 26 || e.QueuedIn != 36 {
		t.Errorf("%+v", e)
	}
	if c := f.Checkpoints; c.Complete != 2 || len(c.Recent) != 6 || c.Last().ID != 6 || !near(c.P50, 0.03) {
		t.Errorf("%+v", c)
	}
	if p := f.Process; p.InUse != 296 || p.Idle != 16 || !near(p.GCShare, 0.02) || p.GCCycles != 4 || !near(p.BytesIn, 4_800_000) {
		t.Errorf("%+v", p)
	}
}

func TestFirstFiguresAreSinceTheStart(t *testing.T) {
	f := top.Compute(top.Reading{}, reading(4))
	if !f.Whole || f.Seconds != 4 || !near(f.Operators[0].RecordsIn, 240_000) {
		t.Errorf("%+v", f)
	}
}

// No count may wrap around when a job begins anew, be it restarted by itself or by others
// at the same address.
func TestARestartBeginsAnew(t *testing.T) {
	again := reading(2)
	for i := range again.Workers {
		again.Workers[i].Restarts = 1
		again.Workers[i].Runtime = fixture(i, 60).Runtime // the process goes on
	}
	for name, now := range map[string]top.Reading{"restart": again, "another process": reading(2)} {
		f := top.Compute(reading(50), now)
		if !f.Whole || f.Seconds != 2 || !near(f.Operators[0].RecordsIn, 240_000) || !near(f.Operators[0].Busy, 0.1) || !near(f.Edges[0].Records, 240_000) {
			t.Errorf("%s: %v, %v s, %+v", name, f.Whole, f.Seconds, f.Operators[0])
		}
	}
}

// A worker that was not there in one of two readings counts for the interval only.
func TestAMissingWorkerIsNamed(t *testing.T) {
	part := top.Reading{Workers: reading(5).Workers[:1], Missing: []string{"b:1: connection refused"}}
	f := top.Compute(part, reading(6))
	if f.Seconds != 1 || !near(f.Operators[0].RecordsIn, 120_000) || len(f.Operators[0].Subtasks) != 2 {
		t.Errorf("%v s, %+v", f.Seconds, f.Operators[0])
	}
	f = top.Compute(reading(5), top.Reading{Workers: reading(6).Workers[:1], Missing: part.Missing})
	if f.Answered != 1 || f.Workers != 2 || len(f.Missing) != 1 || !near(f.Operators[0].RecordsIn, 120_000) {
		t.Errorf("%+v", f)
	}
}
