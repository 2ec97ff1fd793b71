package netstack

import (
	"sync"
	"testing"
	"time"
)

// TestLoopRestLosesNoQueuedWork: as TestLoopSleepLosesNoPost, with work that is queued and
// served: by the poster, by the loop or by another poster.
func TestLoopRestLosesNoQueuedWork(t *testing.T) {
	for _, posters := range []int{1, 2, 8} {
		s, l, end := idleLoop(t)
		var wg sync.WaitGroup
		for i := range posters {
			wg.Go(func() {
				e := errand{make(chan struct{}, 1)}
				for n := range 4000 / posters {
					switch (i + n) % 3 {
					case 0:
						l.post(e)
					case 1:
						l.queue(e)
						l.serve(false)
					default:
						l.queue(e)
						l.serve(true)
					}
					<-e.done
				}
			})
		}
		wg.Wait()
		if s.stats.sleeps.Load() == 0 {
			t.Error("the loop never slept: nothing was tested")
		}
		end()
	}
}

// While the loop sleeps, who serves does the work himself, and the loop sleeps on.
func TestServeDoesTheWorkOfASleepingLoop(t *testing.T) {
	s, l, end := idleLoop(t)
	e := errand{make(chan struct{}, 1)}
	served := func(here bool) bool {
		for { // until it sleeps: it holds the turn before, and again when it is woken
			l.turn.Lock()
			asleep := l.asleep.Load() && l.mail.empty()
			l.turn.Unlock()
			if asleep {
				break
			}
		}
		sleeps := s.stats.sleeps.Load()
		l.queue(e)
		l.serve(here)
		<-e.done
		l.turn.Lock()
		defer l.turn.Unlock()
		return l.asleep.Load() && s.stats.sleeps.Load() == sleeps
	}
	for range 100 {
		if !served(true) {
			t.Fatal("the loop was woken")
		}
	}
	if served(false) {
		t.Error("the work was done by nobody that could be told")
	}
	end()
}

// What a subtask leaves unwritten is for the loop, which may be about to sleep.
func TestLoopGoesOnWithWhatASubtaskLeaves(t *testing.T) {
	s, l, end := idleLoopTuned(t, tuning{set: true, yield: true, spin: 50 * time.Microsecond})
	c := s.conns[1] // it is closed, so nothing is written
	e := errand{make(chan struct{}, 1)}
	for range 2000 {
		l.post(e) // awake, and then idle for a while
		<-e.done
		for !l.turn.TryLock() {
		}
		l.kick(c) // as serve does when there was more than one write takes
		l.turn.Unlock()
		l.wake()
		for left := 1; left > 0; {
			l.turn.Lock()
			left = len(l.dirty)
			l.turn.Unlock()
		}
	}
	end()
}
