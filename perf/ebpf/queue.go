package ebpf

import "time"

// RunQueueReport is how long threads waited for a processor while they could have run.
type RunQueueReport struct {
	Duration  time.Duration  `json:"duration_ns"`
	Waits     *Histogram     `json:"waits"`     // of all processes together; nil: n/a, see Refusals
	Processes []ProcessQueue `json:"processes"` // from /proc
	Refusals  []Refusal      `json:"refusals"`
}
