package perf_test

import (
	"sync"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/perf"
	"pgregory.net/rapid"
)

func needsAccount(t *testing.T) {
	t.Helper()
	if !perf.Enabled {
		t.Skip("built with the tag noperf: no account is kept")
	}
}

func TestTimesSumToWallTime(t *testing.T) {
	needsAccount(t)
	rapid.Check(t, func(t *rapid.T) {
		var a perf.TimeAccount
		start := time.Duration(rapid.Int64Range(0, 1000).Draw(t, "start"))
		now, current := start, perf.Busy
		want := map[perf.Activity]time.Duration{}
		a.Start(now)
		for range rapid.IntRange(0, 50).Draw(t, "turns") {
			step := time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "step"))
			now += step
			want[current] += step
			running := times(want)
			running.Running = true
			if got := a.Read(now); got != running || got.Wall != now-start || a.BusyAt(now) != got.Busy {
				t.Fatalf("read %+v, want %v of %v", got, want, now-start)
			}
			current = rapid.SampledFrom([]perf.Activity{perf.Busy, perf.Idle, perf.Backpressured, perf.Blocked}).Draw(t, "to")
			a.To(current, now)
		}
		a.Stop(now)
		if got := a.Read(now + time.Hour); got != times(want) {
			t.Fatalf("read %+v after the end, want %v", got, want)
		}
	})
}

func times(m map[perf.Activity]time.Duration) perf.Times {
	t := perf.Times{Busy: m[perf.Busy], Idle: m[perf.Idle], Backpressured: m[perf.Backpressured] + m[perf.Blocked], Blocked: m[perf.Blocked]}
	t.Wall = t.Total()
	return t
}

func TestNothingCountsUnlessStarted(t *testing.T) {
	needsAccount(t)
	var a perf.TimeAccount
	if got := a.Read(5); got != (perf.Times{}) {
		t.Fatalf("read %+v before the start", got)
	}
	a.Start(10)
	a.Stop(12)
	a.Start(20)
	if got := a.Read(21); got != (perf.Times{Busy: 3, Wall: 3, Running: true}) {
		t.Fatalf("read %+v after a second start, want 3 busy", got)
	}
}

func TestReadWithAnOlderTimeIsUpToTheLastTurn(t *testing.T) {
	needsAccount(t)
	var a perf.TimeAccount
	a.Start(10)
	a.To(perf.Idle, 30)
	if got := a.Read(20); got != (perf.Times{Busy: 20, Wall: 20, Running: true}) {
		t.Fatalf("read %+v, want the account up to the last turn", got)
	}
}

func TestReadersSeeWholeTurns(t *testing.T) {
	needsAccount(t)
	var a perf.TimeAccount
	a.Start(0)
	const turns = 20000
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			last := perf.Times{}
			for last.Total() < turns {
				got := a.Read(0)
				if got.Total() < last.Total() || got.Busy < last.Busy || got.Idle < last.Idle || got.Backpressured < last.Backpressured {
					t.Errorf("read %+v after %+v", got, last)
					return
				}
				// Each activity lasts one unit, in turn: a torn reading shows.
				if d := got.Busy - got.Backpressured; d < 0 || d > 1 || got.Idle > got.Busy {
					t.Errorf("torn: %+v", got)
					return
				}
				last = got
			}
		})
	}
	for now := time.Duration(1); now <= turns; now++ {
		a.To(perf.Activity(now%3), now)
	}
	readers.Wait()
}
