package main

import (
	"fmt"
	"os"
	"time"

	"github.com/overtake-stream/overtake"
)

// history shows the checkpoints that were completed since the last call: a line each.
func (p *progress) history() {
	for _, c := range p.h.Checkpoints() {
		if c.ID <= p.checkpoints.last {
			continue
		}
		p.checkpoints.add(c)
		kind, overtook := "checkpoint", ""
		if c.Savepoint {
			kind = "savepoint"
		}
		if c.Overtook {
			overtook = ", overtook"
		}
		fmt.Fprintf(os.Stderr, "%s %d: %s (delay %s, align %s, pause %s), %s new of %s, %s in flight%s\n",
			kind, c.ID, brief(c.Duration), brief(c.Delay), brief(c.Align), brief(c.Pause),
			size(c.Bytes), size(c.FullBytes), size(c.InFlight), overtook)
	}
}

// checkpointSums sums up the checkpoints of a run.
type checkpointSums struct {
	last               uint64 // ID
	count, overtook    int
	total, most, pause time.Duration
	bytes, inFlight    int64
}

func (s *checkpointSums) add(c overtake.CheckpointStats) {
	s.last = c.ID
	s.count++
	if c.Overtook {
		s.overtook++
	}
	s.total += c.Duration
	s.most, s.pause = max(s.most, c.Duration), max(s.pause, c.Pause)
	s.bytes += c.Bytes
	s.inFlight += c.InFlight
}

func (s *checkpointSums) print(restarts int) {
	if s.count > 0 {
		fmt.Fprintf(os.Stderr, "  %d checkpoints, %s on average, %s at most, longest pause %s, %s written, %s in flight, %d overtook\n",
			s.count, brief(s.total/time.Duration(s.count)), brief(s.most), brief(s.pause), size(s.bytes), size(s.inFlight), s.overtook)
	}
	if restarts > 0 {
		fmt.Fprintf(os.Stderr, "  %d restarts after failures\n", restarts)
	}
}

// brief rounds a time for people.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// size writes a number of bytes with a unit.
func size(n int64) string {
	for _, u := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<u.shift {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(int64(1)<<u.shift), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
