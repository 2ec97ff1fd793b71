package bufferpool_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

func TestNotifyDoesNotRegisterWhenThereIsSomething(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 2})
	wake := newSignal()
	if p.NotifyAvailable(wake) {
		t.Fatal("registered, and the arena has free ones")
	}
	x, y := mustGet(t, p), mustGet(t, p)
	x.Release()
	if p.NotifyAvailable(wake) {
		t.Fatal("registered, and one has come back")
	}
	y.Release()
	if wake.fired() {
		t.Fatal("woken without having registered")
	}
}

func TestWakeUpIsOnce(t *testing.T) {
	p := newPool(t, newArena(t, 4), bufferpool.PoolOptions{Min: 2})
	all := getAll(p)
	wake := newSignal()
	for range 2 {
		if !p.NotifyAvailable(wake) {
			t.Fatal("not registered")
		}
	}
	all[0].Release()
	if !wake.fired() {
		t.Fatal("not woken")
	}
	all[1].Release()
	if wake.fired() {
		t.Fatal("woken twice")
	}
}

func TestOwnerThatRecyclesWakesItsWaiter(t *testing.T) {
	p := newPool(t, newArena(t, 4), bufferpool.PoolOptions{Min: 2})
	all := getAll(p)
	wake := newSignal()
	p.NotifyAvailable(wake)
	p.Recycle(all[0])
	if !wake.fired() {
		t.Fatal("not woken")
	}
	all[1].Release()
}

func TestLargerShareWakes(t *testing.T) {
	p := newPool(t, newArena(t, 4), bufferpool.PoolOptions{Min: 1})
	b, wake := mustGet(t, p), newSignal()
	p.NotifyAvailable(wake)
	p.SetMax(2)
	if !wake.fired() {
		t.Fatal("not woken")
	}
	b.Release()
}

func TestClosingAPoolWakesThoseThatGetItsShare(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Max: 4})
	q := newPool(t, a, bufferpool.PoolOptions{Min: 2})
	all, wake := getAll(p), newSignal()
	want(t, "got", len(all), 2)
	p.NotifyAvailable(wake)
	q.Close()
	if !wake.fired() {
		t.Fatal("not woken")
	}
	release(all...)
}

// A new pool takes from one and, by rounding, gives to another.
func TestNewPoolWakesTheOneThatGainsByRounding(t *testing.T) {
	a := newArena(t, 5)
	newPool(t, a, bufferpool.PoolOptions{Max: 5})
	p, wake := newPool(t, a, bufferpool.PoolOptions{Max: 3}), newSignal()
	b := mustGet(t, p)
	if !p.NotifyAvailable(wake) {
		t.Fatal("not registered at its limit")
	}
	newPool(t, a, bufferpool.PoolOptions{Max: 5})
	want(t, "limit, which was 1", p.Limit(), 2)
	if !wake.fired() {
		t.Fatalf("asleep with %d available", p.Available())
	}
	b.Release()
}

func TestClosedPoolWakesNobody(t *testing.T) {
	a := newArena(t, 4)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	b, wake := mustGet(t, p), newSignal()
	p.NotifyAvailable(wake)
	p.Close()
	b.Release()
	if wake.fired() {
		t.Fatal("the owner has left")
	}
}

// waking is a Waker that calls a function.
type waking func()

func (w waking) Wake() { w() }

func TestTheOldestWaiterIsWokenFirst(t *testing.T) {
	a := newArena(t, 4)
	hog := newPool(t, a, bufferpool.PoolOptions{Max: 4})
	all := getAll(hog)
	var order []int
	for i := range 4 {
		p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
		p.NotifyAvailable(waking(func() { order = append(order, i) }))
	}
	all[0].Release()
	if !slices.Equal(order, []int{0, 1, 2, 3}) {
		t.Fatalf("woken in the order %v", order)
	}
	release(all[1:]...)
}

// A Waker may use any pool: no lock is held.
func TestWakerMayCallBack(t *testing.T) {
	a := newArena(t, 2)
	hog := newPool(t, a, bufferpool.PoolOptions{Max: 2})
	all := getAll(hog)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	var got bufferpool.Buffer
	p.NotifyAvailable(waking(func() {
		got, _ = p.Get()
		_ = a.Ledger()
		newPool(t, a, bufferpool.PoolOptions{Name: "from a waker"}).Close()
	}))
	release(all...)
	if got.IsZero() {
		t.Fatal("nothing there when woken")
	}
	got.Release()
}

// Everything comes back while nobody listens; then the pool starves and the arena
// is refilled. Both ways must end the wait.
func TestScenario08_WaiterNeverWoken(t *testing.T) {
	a := newArena(t, 4)
	lender := newPool(t, a, bufferpool.PoolOptions{Max: 4})
	p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 3})
	all, wake := getAll(p), newSignal()
	if !p.NotifyAvailable(wake) {
		t.Fatal("not registered")
	}
	all[0].Release() // fires: from here on nobody listens
	<-wake
	release(all[1:]...)
	if p.NotifyAvailable(wake) {
		t.Fatal("asleep with all buffers back")
	}
	all = getAll(p)
	loans := getAll(lender)
	extra := newPool(t, a, bufferpool.PoolOptions{Min: 1})
	if _, ok := extra.Get(); ok || !extra.NotifyAvailable(wake) {
		t.Fatal("the arena should be empty")
	}
	release(loans...)
	release(all...)
	if !wake.fired() {
		t.Fatalf("asleep with the arena refilled; %v", a.Ledger())
	}
	b := mustGet(t, extra)
	b.Release()
}

// A pool that was woken and wants nothing must not keep others asleep, and neither
// must one whose waiter was woken long ago.
func TestScenario08_WokenOneDoesNotWant(t *testing.T) {
	a := newArena(t, 3)
	hog := newPool(t, a, bufferpool.PoolOptions{Max: 3})
	all := getAll(hog)
	var pools []*bufferpool.Pool
	var wakes []signal
	for range 3 {
		p, wake := newPool(t, a, bufferpool.PoolOptions{Min: 1}), newSignal()
		if !p.NotifyAvailable(wake) {
			t.Fatal("not registered")
		}
		pools, wakes = append(pools, p), append(wakes, wake)
	}
	all[0].Release()
	for i := range wakes { // one segment is there for whoever comes
		if !wakes[i].fired() {
			t.Fatalf("waiter %d sleeps while a segment is free", i)
		}
	}
	b := mustGet(t, pools[2])
	release(append(all[1:], b)...)
}

// Consumers release on their goroutine what sleeping owners wait for.
func TestScenario08_UnderConcurrency(t *testing.T) {
	a := newArena(t, 6)
	var wg sync.WaitGroup
	for range 3 {
		p := newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 3})
		sent := make(chan bufferpool.Buffer)
		wg.Go(func() {
			defer close(sent)
			wake := newSignal()
			for range 300 {
				sent <- await(p, wake)
			}
			p.Close()
		})
		wg.Go(func() {
			var kept bufferpool.Buffer
			for b := range sent {
				if !kept.IsZero() {
					kept.Release()
				}
				kept = b
			}
			kept.Release()
		})
	}
	wg.Wait()
	want(t, "free", a.Ledger().Free, 6)
}
