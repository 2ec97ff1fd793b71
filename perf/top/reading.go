package top

import "github.com/overtake-stream/overtake/perf"

// Reading is what the workers of a job said at about one time.
type Reading struct {
	Workers []perf.JobSnapshot // those that answered
	Missing []string           // of the others: which, and why
}

// worker returns the snapshot of one, nil if it did not answer.
func (r Reading) worker(index int) *perf.JobSnapshot {
	for i := range r.Workers {
		if r.Workers[i].Worker == index {
			return &r.Workers[i]
		}
	}
	return nil
}
