package top

import (
	"slices"

	"github.com/overtake-stream/overtake/perf"
)

// mostRecent is how many checkpoints are shown, and are in the median.
const mostRecent = 100

// Checkpoints sum up the latest complete checkpoints, up to 100.
type Checkpoints struct {
	Complete int                       `json:"in_interval"`      // since the earlier reading
	P50      float64                   `json:"p50_seconds"`      // median duration of Recent
	Recent   []perf.CheckpointSnapshot `json:"recent,omitempty"` // oldest first
}

// Last is the latest one, nil if there is none.
func (c *Checkpoints) Last() *perf.CheckpointSnapshot {
	if len(c.Recent) == 0 {
		return nil
	}
	return &c.Recent[len(c.Recent)-1]
}

func checkpointsOf(now Reading, since *perf.JobSnapshot) Checkpoints {
	c := Checkpoints{Complete: len(since.Checkpoints)}
	for i := range now.Workers {
		if all := now.Workers[i].Checkpoints; len(all) > 0 {
			c.Recent = all[max(0, len(all)-mostRecent):]
			break
		}
	}
	if len(c.Recent) == 0 {
		return c
	}
	var durations []float64
	for i := range c.Recent {
		durations = append(durations, c.Recent[i].Duration)
	}
	slices.Sort(durations)
	c.P50 = durations[(len(durations)-1)/2]
	return c
}
