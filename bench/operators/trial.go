package operators

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/overtake-stream/overtake/bench"
)

// trial is what one run of a side has measured.
type trial struct {
	rate      float64 // source records per second
	perCPU    float64 // source records per second of processor time
	allocated float64 // heap allocations per source record
}

// side is a job or its equivalent by hand, with the trials that it has had.
type side struct {
	count int64                                                       // of records in a full run
	run   func(ctx context.Context, n uint64) (sum uint64, err error) // moves n of them
	want  func(n uint64) uint64                                       // the sum; nil: not known
	after func() error                                                // checks a run that was measured; may be nil

	start  float64 // allocations of a run of one record
	known  map[uint64]uint64
	trials []trial
}

// measure has a trial.
func (s *side) measure(ctx context.Context, size bench.Size) error {
	n := uint64(size.Of(s.count))
	if s.known == nil {
		s.known = map[uint64]uint64{}
		var err error
		if s.start, err = mallocs(func() error { _, err := s.run(ctx, 1); return err }); err != nil {
			return err
		}
	}
	var sum uint64
	var elapsed time.Duration
	var used float64
	allocated, err := mallocs(func() (err error) {
		began, before := time.Now(), bench.CPUSeconds()
		sum, err = s.run(ctx, n)
		elapsed, used = time.Since(began), bench.CPUSeconds()-before
		return err
	})
	if err != nil {
		return err
	}
	if err := s.check(n, sum); err != nil {
		return err
	}
	if s.after != nil {
		if err := s.after(); err != nil {
			return err
		}
	}
	s.trials = append(s.trials, trial{
		rate: float64(n) / elapsed.Seconds(), perCPU: float64(n) / max(used, 1e-6), allocated: share(allocated-s.start, n),
	})
	return nil
}

// share is allocations per record. What the runtime itself allocates now and then is less
// than one in a thousand.
func share(allocations float64, n uint64) float64 {
	rate := allocations / float64(n)
	if rate < 1e-3 {
		return 0
	}
	return rate
}

func (s *side) check(n, sum uint64) error {
	if s.want == nil {
		return nil
	}
	want, ok := s.known[n]
	if !ok {
		want = s.want(n)
		s.known[n] = want
	}
	if sum != want {
		return fmt.Errorf("bench: the records add up to %d, want %d", sum, want)
	}
	return nil
}

// figure returns one figure of the trials, one after the other, and has more when they are
// used up.
func (s *side) figure(of func(trial) float64) bench.Measure {
	next := 0
	return func(ctx context.Context, size bench.Size) (float64, error) {
		if next == len(s.trials) {
			if err := s.measure(ctx, size); err != nil {
				return 0, err
			}
		}
		next++
		return of(s.trials[next-1]), nil
	}
}

func mallocs(f func() error) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs), err
}
