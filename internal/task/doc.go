// Package task is the loop that a subtask runs: the only place where gates,
// operator chains and partitions meet.
//
// A subtask is one goroutine. Its loop serves control first, then, as long as
// the outputs can take data, the next record; when they cannot, it waits for
// output or control, so that a backpressured subtask still obeys at once:
//
//	cancelled? ──▶ return
//	outputs full? ──▶ wait for output or control          (backpressured)
//	records of the current buffer? ──▶ run a slice of them (busy)
//	gate or source has more? ──▶ take it
//	else flush what is due, and wait for input or control  (idle)
//
// A slice is the number of records after which the loop looks at the clock, at
// control, and lets other goroutines run. It adapts to the records, so that
// looking costs nothing and yet happens about every 50 microseconds.
//
// Time is accounted as busy, idle or backpressured, summing to wall time.
package task
