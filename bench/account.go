package bench

import (
	"errors"
	"fmt"
	"math"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/perf"
)

// Accounts reports the subtasks of this worker's part of a job whose account of times is
// wrong: see CheckAccounts. Suites ask it of every job that they have measured; it costs
// some 100 kB of garbage for each subtask.
func Accounts(h *overtake.Handle) error {
	s := h.Snapshot()
	return CheckAccounts(&s)
}

// CheckAccounts reports subtasks whose busy, idle and backpressured times are not their wall
// time within 1%, or that were blocked for longer than backpressured, of which that is a
// part. Of a program that keeps no account it reports nothing.
func CheckAccounts(s *perf.JobSnapshot) error {
	if !s.Measured {
		return nil
	}
	var errs []error
	for _, o := range s.Operators {
		for _, sub := range o.Subtasks {
			sum := sub.Busy + sub.Idle + sub.Backpressured
			if math.Abs(sum-sub.Wall) <= sub.Wall/100 && sub.Blocked <= sub.Backpressured+sub.Wall/100 {
				continue
			}
			errs = append(errs, fmt.Errorf("bench: %s[%d]: busy %v s, idle %v s and backpressured %v s, of it blocked %v s, are not the wall time %v s",
				o.Name, sub.Index, sub.Busy, sub.Idle, sub.Backpressured, sub.Blocked, sub.Wall))
		}
	}
	return errors.Join(errs...)
}
