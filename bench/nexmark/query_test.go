package nexmark_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/nexmark"
	"github.com/overtake-stream/overtake/checkpoint"
)

// small are events whose time spans a few windows of 10 s.
func small(group uint64) nexmark.Options {
	return nexmark.Options{Events: 12_000, Rate: 400, Group: group, Seed: 7}
}

func engine(parallelism int) overtake.Options {
	return overtake.Options{Parallelism: parallelism, Network: overtake.Network{BufferSize: 4096, Memory: 4 << 20}}
}

// result runs a query.
func result(t *testing.T, q nexmark.Query, g *nexmark.Generator, opts overtake.Options, check func() error) nexmark.Result {
	t.Helper()
	var out nexmark.Output
	if err := q.Job(g, nexmark.Setup{Engine: opts, Output: &out, Check: check}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out.Result()
}

// want is what a query is to result in. Some rows must be there, or nothing is tested.
func want(t *testing.T, q nexmark.Query, g *nexmark.Generator) nexmark.Result {
	t.Helper()
	r := q.Loop(g, false)
	if r.Rows == 0 {
		t.Fatal("the query has no rows")
	}
	return r
}

func TestQueriesResultInWhatALoopComputes(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, q := range nexmark.Queries() {
		t.Run(q.Name, func(t *testing.T) {
			for _, group := range []uint64{1, 128} {
				g := generator(t, small(group))
				w := want(t, q, g)
				for _, p := range []int{1, 2, 3} {
					if r := result(t, q, g, engine(p), nil); r != w {
						t.Errorf("group %d, parallelism %d: %v, want %v", group, p, r, w)
					}
				}
			}
		})
	}
}

var errPulled = errors.New("somebody pulled the plug")

// failing fails the job once, in the middle, if there is a checkpoint to go on from.
func failing(events uint64) func() error {
	var seen atomic.Uint64
	return func() error {
		n := seen.Add(1)
		if n < events && n%50 == 0 {
			time.Sleep(20 * time.Microsecond) // so that checkpoints are taken
		}
		if n == events*2/3 {
			return errPulled
		}
		return nil
	}
}

func TestResultsAreExactlyOnceWhateverFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	modes := []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto}
	for i, q := range nexmark.Queries() {
		t.Run(q.Name, func(t *testing.T) {
			g := generator(t, small(1))
			w := want(t, q, g)
			for p := 1; p <= 3; p++ {
				mode := modes[(i+p)%len(modes)]
				for name, check := range map[string]func() error{"nothing fails": nil, "one failure": failing(g.Events())} {
					opts := engine(p)
					opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: time.Millisecond, Mode: mode, AlignmentTimeout: time.Millisecond}
					opts.Restart = overtake.Restart{Attempts: 3, Delay: time.Millisecond}
					if r := result(t, q, g, opts, check); r != w {
						t.Errorf("parallelism %d, %v, %s: %v, want %v", p, mode, name, r, w)
					}
				}
			}
		})
	}
}

func TestMissingQueriesSayWhy(t *testing.T) {
	for _, m := range nexmark.MissingQueries() {
		if _, err := nexmark.Find([]string{m.Name}); err == nil || m.Why == "" {
			t.Errorf("%s: %v, want why it is missing", m.Name, err)
		}
	}
	there := len(nexmark.Queries()) + len(nexmark.MissingQueries())
	if there != 24 { // q0 to q22, and a running aggregate
		t.Errorf("%d queries are there or missing, want 24", there)
	}
	if list, err := nexmark.Find([]string{"q5", "q0"}); err != nil || len(list) != 2 || list[0].Name != "q5" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := nexmark.Find([]string{"q99"}); err == nil {
		t.Error("found a query that does not exist")
	}
}
