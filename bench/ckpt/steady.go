package ckpt

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench"
	"github.com/overtake-stream/overtake/connectors/memory"
)

var errEnded = errors.New("ckpt: the job ended before it was measured")

// steady is a counting job that is measured slice by slice.
type steady struct {
	cfg  Config
	mode overtake.CheckpointMode

	h      *overtake.Handle // nil before the first slice
	job    counting
	cancel context.CancelFunc
	seen   uint64  // last checkpoint that a slice has
	slices []slice // with checkpoints, in their order
	plain  []slice // without
	first  overtake.CheckpointStats

	closeStore func() error // nil: none is open
}

// slice is what was measured in one.
type slice struct {
	rate  float64 // records/s
	cost  float64 // seconds of processor time for each record
	taken []overtake.CheckpointStats
}

// ready starts the job, fills its state, and takes a checkpoint that the others build on.
func (s *steady) ready(ctx context.Context) error {
	if s.h != nil {
		return nil
	}
	dir, err := os.MkdirTemp(s.cfg.Folder, "overtake-checkpoint-")
	if err != nil {
		return err
	}
	s.job = counting{
		Keys: s.cfg.keys(), Window: s.cfg.window(), Parallelism: s.cfg.Parallelism, Mode: s.mode, Dir: dir, More: s.cfg.Pressure,
	}.ready()
	s.job.pressed = new(atomic.Bool)
	if s.closeStore, err = s.job.slow(); err != nil {
		return err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	if s.h, err = s.job.job(memory.Discard[count]()).Start(own); err != nil {
		return err
	}
	if err := s.job.loaded(ctx, s.h); err != nil {
		return err
	}
	if s.seen, err = s.h.Checkpoint(ctx); err != nil {
		return err
	}
	s.job.pressed.Store(true)
	s.first = s.h.Checkpoints()[0]
	return nil
}

// close ends the job and deletes its checkpoints.
func (s *steady) close() error {
	if s.cancel == nil {
		return nil
	}
	s.cancel()
	var err error
	if s.h != nil {
		if e := s.h.Wait(); !errors.Is(e, context.Canceled) {
			err = e
		}
	}
	if s.closeStore != nil {
		err = errors.Join(err, s.closeStore())
	}
	return errors.Join(err, os.RemoveAll(s.job.Dir))
}

// slice measures one. It ends when its last checkpoint has.
func (s *steady) slice(ctx context.Context, with bool) (slice, error) {
	if err := s.ready(ctx); err != nil {
		return slice{}, err
	}
	if with { // what has changed without checkpoints is not part of a slice with them
		if _, err := s.h.Checkpoint(ctx); err != nil {
			return slice{}, err
		}
		s.fresh()
	}
	stop := s.moveWindow()
	defer stop()
	began, before, used := time.Now(), counted(s.h), bench.CPUTime()
	end := began.Add(s.cfg.Slice)
	tick := time.NewTicker(s.cfg.Interval)
	defer tick.Stop()
	for time.Now().Before(end) {
		select {
		case <-tick.C:
		case <-s.h.Done():
			return slice{}, ended(s.h)
		case <-ctx.Done():
			return slice{}, ctx.Err()
		}
		if with {
			if _, err := s.h.Checkpoint(ctx); err != nil {
				return slice{}, err
			}
		}
	}
	records := float64(counted(s.h) - before)
	sl := slice{rate: records / time.Since(began).Seconds(), cost: (bench.CPUTime() - used).Seconds() / max(1, records), taken: s.fresh()}
	*s.kind(with) = append(*s.kind(with), sl)
	return sl, bench.Accounts(s.h)
}

// kind are the slices with checkpoints, or those without.
func (s *steady) kind(with bool) *[]slice {
	if with {
		return &s.slices
	}
	return &s.plain
}

// moveWindow lets other keys change with every interval, until stop is called.
func (s *steady) moveWindow() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(s.cfg.Interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.job.base.Add(s.job.Window)
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// fresh are the checkpoints that no slice has yet.
func (s *steady) fresh() []overtake.CheckpointStats {
	all := s.h.Checkpoints()
	all = slices.DeleteFunc(all, func(c overtake.CheckpointStats) bool { return c.ID <= s.seen })
	if len(all) > 0 {
		s.seen = all[len(all)-1].ID
	}
	return all
}

// replay returns the slices of a kind one after the other, and measures more when they
// are used up.
func (s *steady) replay(with bool) func(ctx context.Context) (slice, error) {
	next := 0
	return func(ctx context.Context) (slice, error) {
		next++
		if done := *s.kind(with); next <= len(done) {
			return done[next-1], nil
		}
		return s.slice(ctx, with)
	}
}
