package bufferpool_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/bufferpool"
)

// says fails unless the error's message holds every word.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func TestOptionsNameEveryProblem(t *testing.T) {
	_, err := bufferpool.New(bufferpool.Options{SegmentSize: 1000, Budget: 10})
	says(t, err, "buffer size 1000", "power of two", "budget 10 bytes")
	_, err = bufferpool.New(bufferpool.Options{SegmentSize: bufferpool.MinSegment, Budget: 1 << 33})
	says(t, err, "more than 16777216 buffers of 256 bytes")
	_, err = newArena(t, 1).NewPool(bufferpool.PoolOptions{Min: 1 << 62})
	says(t, err, "Min is 4611686018427387904")
	if err := (bufferpool.Options{}).Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	_, err = newArena(t, 1).NewPool(bufferpool.PoolOptions{Name: "map[1]", Min: -1, Max: -2, Overdraft: -3})
	says(t, err, `"map[1]"`, "Min is -1", "Max is -2", "Overdraft is -3")
}

func TestBudgetErrorSaysWhatWouldDo(t *testing.T) {
	a := newArena(t, 10)
	newPool(t, a, bufferpool.PoolOptions{Min: 4})
	_, err := a.NewPool(bufferpool.PoolOptions{Name: "map[1] out", Min: 7})
	var budget *bufferpool.BudgetError
	if !errors.As(err, &budget) {
		t.Fatalf("error %v, want a BudgetError", err)
	}
	want(t, "needed", budget.Needed, 11)
	want(t, "available", budget.Available, 10)
	want(t, "bytes that would do", int(budget.Budget), 11*segment)
	says(t, err, `"map[1] out"`, "reserve 11 buffers", "there are 10", "raise the network memory to at least 2816 bytes")
	newPool(t, a, bufferpool.PoolOptions{Min: 6}) // what failed reserved nothing
}

func TestLeakErrorListsWhoHoldsWhat(t *testing.T) {
	a := newArena(t, 8)
	p := newPool(t, a, bufferpool.PoolOptions{Name: "map[1] out", Min: 2, Max: 5})
	x, y := mustGet(t, p), mustGet(t, p)
	mustGet(t, p).Release()
	x.SetState(bufferpool.Captured)
	err := a.Close()
	var leak *bufferpool.LeakError
	if !errors.As(err, &leak) {
		t.Fatalf("error %v, want a LeakError", err)
	}
	want(t, "in use", leak.Ledger.InUse, 2)
	says(t, err, "2 buffers are still in use", "map[1] out", "held 3 (min 2, limit 5), idle 1, open 1", "captured 1")
	x.Space()[0] = 1 // still mapped: its user knows nothing of this
	p.Close()
	says(t, a.Close(), "map[1] out", "held 2 (min 0, limit 0)")
	release(x, y)
}

func TestClosedArena(t *testing.T) {
	a := newArena(t, 2)
	p := newPool(t, a, bufferpool.PoolOptions{Max: 2})
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.NewPool(bufferpool.PoolOptions{}); !errors.Is(err, bufferpool.ErrClosed) {
		t.Fatalf("error %v, want ErrClosed", err)
	}
	if _, ok := p.Get(); ok {
		t.Fatal("a buffer of memory that is gone")
	}
	p.Close()
}

func TestStatesHaveNames(t *testing.T) {
	for s, name := range map[bufferpool.State]string{
		bufferpool.Idle: "idle", bufferpool.InFlight: "in flight", bufferpool.Captured: "captured", 99: "state 99",
	} {
		if s.String() != name {
			t.Errorf("%d is %q, want %q", s, s, name)
		}
	}
}
