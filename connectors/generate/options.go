package generate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/overtake-stream/overtake/perf"
)

// Options says how many records, and how fast.
type Options struct {
	// Count is the number of records over all subtasks, 1 to Forever; required.
	Count uint64
	// Rate is records per second over all subtasks. Record n is due n/Rate seconds
	// after Start, and that moment is its event time; it comes up to 100 microseconds
	// later, and more where timers are coarser. Zero: as fast as the job takes them,
	// without event time.
	Rate float64
	// Start is when record 0 is due. Default: when the subtask begins. A job that goes
	// on from a checkpoint keeps its start, and catches up on what became due
	// meanwhile.
	Start time.Time
	// Clock tells how much time has passed. Default: the system's.
	Clock perf.Clock
}

// Forever is a Count that no job reaches.
const Forever = math.MaxUint64 >> 1

// Validate reports all problems at once.
func (o Options) Validate() error {
	var errs []error
	if o.Count < 1 || o.Count > Forever {
		errs = append(errs, fmt.Errorf("generate: Count %d, want 1 to Forever records", o.Count))
	}
	if !(o.Rate >= 0) || math.IsInf(o.Rate, 1) {
		errs = append(errs, fmt.Errorf("generate: Rate %v, want a number of records per second, or 0 for no limit", o.Rate))
	}
	return errors.Join(errs...)
}
