package netstack

import (
	"testing"
	"time"
)

// spinScript feeds windows of equal idle times and returns how many of them began with a long
// spin.
func spinScript(s *spinner, windows int, idle func(limit time.Duration) time.Duration) (long int) {
	for range windows {
		if s.limit() == longSpin {
			long++
		}
		for range spinWindow {
			limit := s.limit()
			s.idled(idle(limit))
		}
	}
	return long
}

func TestSpinnerSpinsLongWhereAnswersComeSoon(t *testing.T) {
	var s spinner
	answers := func(limit time.Duration) time.Duration {
		if limit == longSpin {
			return 10 * time.Microsecond // the peer spins as well
		}
		return 65 * time.Microsecond // two processors are woken
	}
	if long := spinScript(&s, 100, answers); long != 99 {
		t.Errorf("%d of 100 windows were long, want all but the first", long)
	}
	if long := spinScript(&s, 100, func(time.Duration) time.Duration { return time.Millisecond }); long != 1 {
		t.Errorf("%d of 100 windows were long when nothing comes soon, want the first alone", long)
	}
}

func TestSpinnerLeavesAPacedLoadAlone(t *testing.T) {
	var s spinner
	if long := spinScript(&s, 1000, func(time.Duration) time.Duration { return 80 * time.Microsecond }); long != 0 {
		t.Errorf("%d of 1000 windows were long", long)
	}
}

// The peer cannot run while the loop spins, and answers as soon as it sleeps.
func TestSpinnerGivesUpWhatKeepsThePeerFromRunning(t *testing.T) {
	var s spinner
	blocked := func(limit time.Duration) time.Duration { return limit + 10*time.Microsecond }
	first := spinScript(&s, 1000, blocked)
	if first < 5 || first > 20 {
		t.Errorf("%d of 1000 windows were long, want a try now and then, ever more rarely", first)
	}
	if later := spinScript(&s, 1000, blocked); later > 5 {
		t.Errorf("%d of the next 1000 windows were long", later)
	}
	spinScript(&s, maxPatience+1, func(time.Duration) time.Duration { return time.Microsecond })
	if s.limit() != longSpin || s.patience != 0 {
		t.Errorf("limit %v, patience %d after all spins have found something soon", s.limit(), s.patience)
	}
}

func TestSpinnerSavesProcessorTime(t *testing.T) {
	s := spinner{long: true}
	spinScript(&s, 1, func(time.Duration) time.Duration { return spinWorth })
	if !s.long {
		t.Error("gave up spins that took no longer than a sleep")
	}
	spinScript(&s, 1, func(time.Duration) time.Duration { return spinWorth + 1 })
	if s.long {
		t.Error("went on though all spins took longer than a sleep, if they found something")
	}
}
