package netstack_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/netstack"
)

// finishes fails the test when f takes too long: somebody was not woken.
func finishes(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		t.Fatalf("waited in vain for %s\n%s", what, stacks)
	}
}

func TestWakeBeforeParkIsKept(t *testing.T) {
	p := netstack.NewParker()
	for range 3 {
		p.Wake()
		p.Wake() // two are as good as one
		if !p.Notified() {
			t.Fatal("not notified after Wake")
		}
		finishes(t, "a Park after Wake", func() { p.Park(nil) })
		if p.Notified() {
			t.Fatal("notified after Park")
		}
	}
}

func TestParkEndsAtItsTimeout(t *testing.T) {
	p := netstack.NewParker()
	expired := make(chan time.Time, 1)
	expired <- time.Time{}
	finishes(t, "the timeout", func() {
		if p.Park(expired) {
			t.Error("Park reports a Wake that never was")
		}
	})
	p.Wake()
	if !p.Park(expired) {
		t.Error("Park after a timeout missed a Wake")
	}
}

// TestTwoParkersPlayPingPong stops at the first wake-up that is lost.
func TestTwoParkersPlayPingPong(t *testing.T) {
	const rounds = 20_000
	var turn atomic.Int64
	parkers := [2]*netstack.Parker{netstack.NewParker(), netstack.NewParker()}
	player := func(me int64) {
		for n := me; n < rounds; n += 2 {
			for turn.Load() != n {
				parkers[me].Park(nil)
			}
			turn.Add(1)
			parkers[1-me].Wake()
		}
	}
	finishes(t, "the last round", func() {
		var wg sync.WaitGroup
		wg.Go(func() { player(0) })
		wg.Go(func() { player(1) })
		wg.Wait()
	})
}

// TestTimeoutsDoNotSwallowWakes lets timeouts expire at about the moments of
// wake-ups. Each waker waits until its work was seen, so one lost wake-up ends all.
func TestTimeoutsDoNotSwallowWakes(t *testing.T) {
	const wakers, rounds = 3, 3_000
	p := netstack.NewParker()
	var posted, seen [wakers]atomic.Int64
	var wg sync.WaitGroup
	for i := range wakers {
		wg.Go(func() {
			for n := int64(1); n <= rounds; n++ {
				posted[i].Store(n)
				p.Wake()
				for spins := 0; seen[i].Load() < n; spins++ {
					if spins > 100 {
						time.Sleep(time.Microsecond)
					}
				}
			}
		})
	}
	expired := make(chan time.Time)
	close(expired)
	finishes(t, "all work to be seen", func() {
		for done := 0; done < wakers; {
			done = 0
			for i := range wakers {
				n := posted[i].Load()
				seen[i].Store(n)
				if n == rounds {
					done++
				}
			}
			switch {
			case done == wakers:
			case rand.IntN(2) == 0:
				p.Park(expired)
			default:
				p.Park(nil) // only a Wake ends this: if one got lost, it hangs
			}
		}
	})
	wg.Wait()
}

func TestParkingAllocatesNothing(t *testing.T) {
	p := netstack.NewParker()
	if n := testing.AllocsPerRun(1000, func() {
		p.Wake()
		p.Park(nil)
	}); n != 0 {
		t.Errorf("%v allocations per wake-up", n)
	}
	ping, pong := netstack.NewParker(), netstack.NewParker()
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			ping.Park(nil)
			pong.Wake()
		}
	}()
	if n := testing.AllocsPerRun(1000, func() {
		ping.Wake()
		pong.Park(nil)
	}); n != 0 {
		t.Errorf("%v allocations per round trip", n)
	}
	stop.Store(true)
	ping.Wake()
	<-done
}

func BenchmarkParkerRoundTrip(b *testing.B) {
	ping, pong := netstack.NewParker(), netstack.NewParker()
	go func() {
		for range b.N {
			ping.Park(nil)
			pong.Wake()
		}
	}()
	for range b.N {
		ping.Wake()
		pong.Park(nil)
	}
}

func BenchmarkChannelRoundTrip(b *testing.B) {
	ping, pong := make(chan struct{}, 1), make(chan struct{}, 1)
	go func() {
		for range b.N {
			<-ping
			pong <- struct{}{}
		}
	}()
	for range b.N {
		ping <- struct{}{}
		<-pong
	}
}
