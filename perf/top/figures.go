package top

import (
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// Figures are what a job did in an interval, and how it is at the end of it, in seconds,
// bytes and shares from 0 to 1.
type Figures struct {
	Job      string    `json:"job"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"interval_seconds"` // since the earlier reading, or since the start or restart of the job's attempt
	Whole    bool      `json:"since_start"`      // the latter
	Workers  int       `json:"workers"`
	Answered int       `json:"workers_answered"`
	Missing  []string  `json:"missing,omitempty"` // why workers' figures are not in these
	Restarts int       `json:"restarts"`
	Ended    bool      `json:"ended"`
	Measured bool      `json:"measured"` // false: built with the tag noperf; times are all 0

	RootCause   Cause       `json:"root_cause"`
	Operators   []Operator  `json:"operators"`
	Edges       []Edge      `json:"edges"`
	Checkpoints Checkpoints `json:"checkpoints"`
	Process     Process     `json:"processes"`
}

// Cause is where backpressure begins.
type Cause struct {
	perf.Cause
	Found bool `json:"found"` // false: Operator is empty, and Why says how things are instead
}

// Compute returns the figures between two readings of a job; earlier may be the zero
// Reading, then they are since the start of the job's attempt. Workers are compared each
// with itself, so that one that is missing in a reading does not count twice.
func Compute(earlier, now Reading) Figures {
	f := Figures{Missing: now.Missing, Answered: len(now.Workers), Workers: len(now.Workers) + len(now.Missing)}
	for i := range now.Workers {
		if s := &now.Workers[i]; goesOn(earlier.worker(s.Worker), s) {
			f.Seconds = max(f.Seconds, s.At.Sub(earlier.worker(s.Worker).At).Seconds())
		}
	}
	f.Whole = f.Seconds == 0
	parts := make([]perf.JobSnapshot, 0, len(now.Workers))
	for i := range now.Workers {
		s := &now.Workers[i]
		old := earlier.worker(s.Worker)
		switch {
		case f.Whole:
			old = new(perf.JobSnapshot)
		case !goesOn(old, s):
			old = s // nothing is known of the interval: what it did before is not of it
		}
		parts = append(parts, s.Since(old))
	}
	all := perf.Merge(parts)
	if f.Whole {
		f.Seconds = longest(&all)
	}
	f.Job, f.At, f.Restarts, f.Ended, f.Measured = all.Job, all.At, all.Restarts, all.Ended, all.Measured
	f.Workers = max(f.Workers, all.Workers)
	f.RootCause.Cause, f.RootCause.Found = all.RootCause()
	for i := range all.Operators {
		f.Operators = append(f.Operators, operatorOf(&all, &all.Operators[i], f.Seconds))
	}
	for i := range all.Edges {
		f.Edges = append(f.Edges, edgeOf(&all.Edges[i], f.Seconds))
	}
	f.Checkpoints = checkpointsOf(now, &all)
	f.Process = processOf(&all, f.Seconds)
	return f
}

// goesOn reports whether s is a later snapshot of the same attempt by the same process,
// so that no count has become less.
func goesOn(old, s *perf.JobSnapshot) bool {
	return old != nil && s.At.After(old.At) && old.Job == s.Job && old.PID == s.PID && old.Restarts == s.Restarts && old.Runtime.AllocatedBytes <= s.Runtime.AllocatedBytes &&
		longest(old) <= longest(s)
}

// longest is how long the subtask that has run longest has run.
func longest(s *perf.JobSnapshot) (seconds float64) {
	for i := range s.Operators {
		for k := range s.Operators[i].Subtasks {
			seconds = max(seconds, s.Operators[i].Subtasks[k].Wall)
		}
	}
	return seconds
}

// per is n/seconds, 0 if no time has passed.
func per[N uint64 | float64](n N, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}
