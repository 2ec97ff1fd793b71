package netstack

import (
	"errors"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake/bufferpool"
)

// errand is work that says when it was done.
type errand struct{ done chan struct{} }

func (e errand) work() { e.done <- struct{}{} }

// idleLoop is a loop without connections: nothing wakes it but posts.
func idleLoop(t *testing.T) (*Stack, *loop, func()) {
	t.Helper()
	arena, err := bufferpool.New(bufferpool.Options{SegmentSize: 256, Budget: 256 * 16})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStack(StackOptions{
		Arena: arena, Peers: []string{"localhost:1", "localhost:2"},
		tuning: tuning{set: true, spin: 1}, // one look before it sleeps
	})
	if err != nil {
		t.Fatal(err)
	}
	s.conns[1].closed = true // there is none
	l := s.driver.(*loop)
	if err := l.start(nil); err != nil {
		t.Fatal(err)
	}
	return s, l, func() {
		if err := errors.Join(s.Close(), arena.Close()); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t)
	}
}

// TestLoopSleepLosesNoPost: each poster waits for its errand before it posts the
// next, so the loop goes to sleep all the time, and a lost wake-up would hang.
func TestLoopSleepLosesNoPost(t *testing.T) {
	for _, posters := range []int{1, 2, 8} {
		s, l, end := idleLoop(t)
		var wg sync.WaitGroup
		for range posters {
			wg.Go(func() {
				e := errand{make(chan struct{}, 1)}
				for range 4000 / posters {
					l.post(e)
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

// TestLoopClosesItsFilesAfterTheLastPost: posts that race with the end are dropped
// or done, and never written to a descriptor that has become another file.
func TestLoopClosesItsFilesAfterTheLastPost(t *testing.T) {
	before := openFiles(t)
	for range 200 {
		_, l, end := idleLoop(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					l.post(errand{make(chan struct{}, 1)})
				}
			})
		}
		end()
		wg.Wait()
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(entries)
}
