package bufferpool_test

import (
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

func TestSurplusIsSharedInProportion(t *testing.T) {
	a := newArena(t, 16)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 2, Max: 8})
	want(t, "alone", p.Limit(), 8)
	q := newPool(t, a, bufferpool.PoolOptions{Min: 2, Max: 14})
	want(t, "p: 2 + 12*6/18", p.Limit(), 6)
	want(t, "q: 2 + 12*12/18", q.Limit(), 10)
	p.SetMax(2)
	want(t, "q, when p wants no more", q.Limit(), 14)
	p.SetMax(8)
	q.Close()
	want(t, "p, when q is gone", p.Limit(), 8)
}

func TestNoSegmentIsLeftOver(t *testing.T) {
	a := newArena(t, 5)
	sum := 0
	var pools []*bufferpool.Pool
	for range 3 {
		pools = append(pools, newPool(t, a, bufferpool.PoolOptions{Min: 1, Max: 2}))
	}
	for _, p := range pools {
		sum += p.Limit()
	}
	want(t, "limits", sum, 5)
}

// Without a minimum, a limit of 0 would be a sleep without end.
func TestPoolThatWantsLittleIsNotLeftWithoutAny(t *testing.T) {
	a := newArena(t, 50)
	big := newPool(t, a, bufferpool.PoolOptions{Max: 1000})
	small := newPool(t, a, bufferpool.PoolOptions{Max: 1})
	want(t, "small", small.Limit(), 1)
	want(t, "big", big.Limit(), 49)
}

func TestHugeMaximumIsTheWholeArena(t *testing.T) {
	a := newArena(t, 5)
	p := newPool(t, a, bufferpool.PoolOptions{Max: 1 << 62, Overdraft: 1 << 62})
	want(t, "limit", p.Limit(), 5)
	p.SetMax(-1)
	want(t, "limit", p.Limit(), 0)
}

// A pool whose limit fell loses what is idle at once: its owner may sleep for long.
func TestIdleBuffersBeyondTheLimitAreTakenBack(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 2, Max: 8})
	for _, b := range getAll(p) {
		p.Recycle(b)
	}
	q := newPool(t, a, bufferpool.PoolOptions{Min: 6})
	theirs := getAll(q)
	want(t, "the new pool's minimum, with the first one's owner asleep", len(theirs), 6)
	mine := getAll(p)
	want(t, "the first keeps", len(mine), 2)
	release(append(mine, theirs...)...)
}

func TestBuffersInUseBeyondTheLimitComeBackOneByOne(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 2, Max: 8})
	mine := getAll(p)
	q := newPool(t, a, bufferpool.PoolOptions{Min: 6})
	want(t, "nothing is free", len(getAll(q)), 0)
	wake := newSignal()
	if !q.NotifyAvailable(wake) {
		t.Fatal("available, and was not")
	}
	p.Recycle(mine[0])
	if !wake.fired() {
		t.Fatal("not woken")
	}
	release(mine[1:6]...)
	theirs := getAll(q)
	want(t, "the promise", len(theirs), 6)
	release(append(theirs, mine[6:]...)...)
}

// The same when the owner has got one of several that came back, and then sleeps.
func TestOwnerTakesNoMoreThanItNeedsOutOfReach(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Min: 2, Max: 8})
	release(getAll(p)...)
	mine := mustGet(t, p)
	q := newPool(t, a, bufferpool.PoolOptions{Min: 6})
	theirs := getAll(q)
	want(t, "the new pool's minimum", len(theirs), 6)
	release(append(theirs, mine)...)
}

// Two pools whose minimum is out on loan must not wait for each other while there
// is something free.
func TestOwnClaimIsInReachWhileLoansAreOut(t *testing.T) {
	a := newArena(t, 6)
	p := newPool(t, a, bufferpool.PoolOptions{Max: 6})
	loans := getAll(p)
	q := newPool(t, a, bufferpool.PoolOptions{Min: 3})
	r := newPool(t, a, bufferpool.PoolOptions{Min: 3})
	release(loans[:2]...)
	x, y := mustGet(t, q), mustGet(t, r)
	release(append(loans[2:], x, y)...)
	theirs := append(getAll(q), getAll(r)...)
	want(t, "both minimums", len(theirs), 6)
	release(theirs...)
}
