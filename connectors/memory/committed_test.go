package memory_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/overtake-stream/overtake/connectors/memory"
	"github.com/overtake-stream/overtake/operators"
)

func openCommitted[T any](t interface{ Fatal(args ...any) }, c *memory.Committed[T], epoch uint64, i, p int) operators.TwoPhaseWriter[T] {
	w, err := c.Open(&operators.Context{Epoch: epoch, Subtask: i, Parallelism: p})
	if err != nil {
		t.Fatal(err)
	}
	return w.(operators.TwoPhaseWriter[T])
}

func must(t interface{ Fatal(args ...any) }, errs ...error) {
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Attempts with any number of subtasks write numbers, complete or decline checkpoints,
// repeat commits and fail: what is committed is every number once.
func TestCommittedIsExactInRandomRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type prepared struct {
			subtask int
			what    []byte
		}
		var c memory.Committed[int]
		var writers []operators.TwoPhaseWriter[int]
		var waiting, commits []prepared
		epoch, next, covered := uint64(0), 0, 0
		commit := func() {
			for _, p := range commits {
				must(rt, writers[p.subtask%len(writers)].Commit(p.what))
			}
		}
		start := func() {
			epoch++
			writers, waiting, next = nil, nil, covered
			p := rapid.IntRange(1, 5).Draw(rt, "parallelism")
			for i := range p {
				writers = append(writers, openCommitted(rt, &c, epoch, i, p))
			}
			commit()
			for _, w := range writers {
				must(rt, w.Recovered())
			}
			if c.Prepared() != 0 {
				rt.Fatalf("%d transactions left by attempts before", c.Prepared())
			}
		}
		prepare := func() {
			for i, w := range writers {
				b, err := w.Prepare(nil)
				if must(rt, err); len(b) > 0 {
					waiting = append(waiting, prepared{i, b})
				}
			}
		}
		checkpoint := func() {
			prepare()
			covered, commits, waiting = next, waiting, nil
			commit()
		}
		start()
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"write", "write", "checkpoint", "commit", "prepare", "fail"}).Draw(rt, "step") {
			case "write":
				must(rt, writers[rapid.IntRange(0, len(writers)-1).Draw(rt, "subtask")].Write(next))
				next++
			case "checkpoint":
				checkpoint()
			case "commit":
				commit()
			case "prepare":
				prepare()
			case "fail":
				for _, p := range waiting {
					if rapid.Bool().Draw(rt, "abort") {
						must(rt, writers[p.subtask].Abort(p.what), writers[p.subtask].Abort(p.what))
					}
				}
				for _, w := range writers {
					must(rt, w.Close(false))
				}
				start()
			}
			if n := len(c.Records()); n != covered {
				rt.Fatalf("%d records, %d are covered", n, covered)
			}
		}
		checkpoint()
		for _, w := range writers {
			must(rt, w.Close(true))
		}
		got := c.Records()
		slices.Sort(got)
		for i, n := range got {
			if i != n {
				rt.Fatalf("records %v", got)
			}
		}
		if len(got) != next || c.Prepared() != 0 {
			rt.Fatalf("%d of %d records, %d transactions left", len(got), next, c.Prepared())
		}
	})
}

func TestCommittedRefusesWhatItDoesNotKnow(t *testing.T) {
	var c memory.Committed[string]
	w := openCommitted(t, &c, 1, 0, 1)
	must(t, w.Write("a"))
	b, err := w.Prepare(nil)
	must(t, err, w.Commit(b), w.Close(true))
	if err := w.Abort(b); err == nil {
		t.Error("no error for an abort after the commit")
	}

	w = openCommitted(t, &c, 1, 0, 1)
	must(t, w.Write("b"))
	if _, err := w.Prepare(nil); !errors.Is(err, memory.ErrReused) {
		t.Errorf("error %v of a second run, want %v", err, memory.ErrReused)
	}
	if err := w.Close(true); err == nil {
		t.Error("no error for records that no checkpoint covers")
	}
	var other memory.Committed[string]
	w = openCommitted(t, &other, 2, 0, 1)
	if err := w.Commit(b); !errors.Is(err, memory.ErrLost) {
		t.Errorf("error %v, want %v", err, memory.ErrLost)
	}
	for _, damaged := range [][]byte{nil, b[:2], append(slices.Clone(b), 0)} {
		if w.Commit(damaged) == nil || w.Abort(damaged) == nil {
			t.Errorf("no error of %x", damaged)
		}
	}
	must(t, w.Close(true))
	if got := c.Records(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("records %q", got)
	}
}

func TestCommittedWithoutCheckpoints(t *testing.T) {
	var c memory.Committed[int]
	for range 2 {
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				w := openCommitted(t, &c, 0, i, 4)
				if err := errors.Join(w.Write(i), w.Write(i), w.Flush(), w.Close(i > 0)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	got := c.Records()
	if slices.Sort(got); !slices.Equal(got, []int{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}) {
		t.Errorf("records %v", got)
	}
}

func TestOnlyChannelsSayThatTheyCannotBeReplayed(t *testing.T) {
	type unreplayable interface{ Unreplayable() error }
	u, ok := memory.Channel(make(chan int)).(unreplayable)
	if !ok || !errors.Is(u.Unreplayable(), memory.ErrUnreplayable) {
		t.Error("a channel does not say so")
	}
	if _, ok := memory.Slice(1).(unreplayable); ok {
		t.Error("a slice says so")
	}
}
