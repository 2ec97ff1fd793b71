package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
)

// progress shows on standard error what a job is doing: a line a second.
type progress struct {
	on    bool
	h     *overtake.Handle
	start time.Time
	last  time.Time
	seen  map[string]overtake.OperatorStats

	checkpoints checkpointSums
}

func newProgress(e *env, h *overtake.Handle) *progress {
	now := time.Now()
	return &progress{on: e.progress, h: h, start: now, last: now, seen: map[string]overtake.OperatorStats{}}
}

// update shows the last second.
func (p *progress) update() {
	if !p.on {
		return
	}
	now := time.Now()
	seconds := now.Sub(p.last).Seconds()
	p.last = now
	var parts []string
	for _, s := range p.h.Stats() {
		before := p.seen[s.Name]
		p.seen[s.Name] = s
		total := float64(s.Subtasks) * seconds
		parts = append(parts, fmt.Sprintf("%s %s/s busy %.0f%% backpressured %.0f%%", s.Name,
			short(float64(s.Records-before.Records)/seconds),
			100*(s.Busy-before.Busy).Seconds()/total, 100*(s.Backpressured-before.Backpressured).Seconds()/total))
	}
	p.history()
	fmt.Fprintf(os.Stderr, "%4.0fs  %s\n", now.Sub(p.start).Seconds(), strings.Join(parts, " | "))
}

// end shows the whole run.
func (p *progress) end() {
	if !p.on {
		return
	}
	p.history()
	elapsed := time.Since(p.start)
	fmt.Fprintf(os.Stderr, "done in %v\n", elapsed.Round(time.Millisecond))
	for _, s := range p.h.Stats() {
		total := (s.Busy + s.Idle + s.Backpressured).Seconds()
		fmt.Fprintf(os.Stderr, "  %-32s x%-3d %9s records %9s/s  busy %3.0f%%  idle %3.0f%%  backpressured %3.0f%%\n",
			s.Name, s.Subtasks, short(float64(s.Records)), short(float64(s.Records)/elapsed.Seconds()),
			100*s.Busy.Seconds()/total, 100*s.Idle.Seconds()/total, 100*s.Backpressured.Seconds()/total)
	}
	p.checkpoints.print(p.h.Restarts())
}

// short writes a number with a unit.
func short(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= u.size {
			return fmt.Sprintf("%.2f%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}
