package checkpoint

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler lets no compaction begin before the catalogue is open: when opening fails, Pebble
// does not wait for one that has begun, and it crashes.
//
// The default scheduler has a goroutine that ticks all the time, and that is left behind when
// opening fails. The one below is the same without it, which is enough as the number of compactions
// that may run does not change.
type scheduler struct {
	pebble.CompactionScheduler
	open atomic.Bool
}

func newScheduler() *scheduler {
	return &scheduler{CompactionScheduler: pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()}
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !s.open.Load() {
		return false, nil
	}
	return s.CompactionScheduler.TrySchedule()
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (s *scheduler) UpdateGetAllowedWithoutPermission() {
	if s.open.Load() {
		s.CompactionScheduler.UpdateGetAllowedWithoutPermission()
	}
}
