package nexmark

import (
	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Setup says how a query runs as a job.
type Setup struct {
	Engine overtake.Options
	Pace   Pace
	Output *Output // gets the result; required
	// Pressure of a slow or stalled sink on what comes before the output. Others are up to
	// Engine.
	Pressure pressure.Config
	// Check, if set, is called with every event, by all subtasks of the source. An error
	// fails the job.
	Check func() error
	// Began, if set, is called once, before the first event.
	Began func()
}

// Job returns the query as a job over the events of g.
func (q Query) Job(g *Generator, s Setup) *overtake.Job {
	job := overtake.NewJob("nexmark-"+q.Name, s.Engine)
	src := source{g, s.Pace, &start{began: s.Began}}
	s.Output.gen, s.Output.pace, s.Output.start = g, s.Pace, src.start
	events := overtake.From[*Event](job, src, overtake.WithName("events"), overtake.WithUID("events"))
	if s.Check != nil {
		events = overtake.TryMap(events, func(_ *overtake.Context, e *Event) (*Event, error) { return e, s.Check() })
	}
	q.build(&plan{gen: g, events: events, out: s.Output, pressure: s.Pressure})
	return job
}
