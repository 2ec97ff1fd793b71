package nexmark_test

import (
	"context"
	"errors"
	"strings"
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
	return nexmark.Options{Events: 6_000, Rate: 200, Group: group, Seed: 7}
}

func engine(parallelism int) overtake.Options {
	return overtake.Options{Parallelism: parallelism, Network: overtake.Network{BufferSize: 4096, Memory: 4 << 20}}
}

// result runs a query.
func result(t *testing.T, q nexmark.Query, g *nexmark.Generator, opts overtake.Options, check func() error) nexmark.Result {
	t.Helper()
	out := nexmark.Output{Folder: t.TempDir()}
	if err := q.Job(g, nexmark.Setup{Engine: opts, Output: &out, Check: check}).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return put(t, q, &out)
}

// put is what a job has put out.
func put(t *testing.T, q nexmark.Query, out *nexmark.Output) nexmark.Result {
	t.Helper()
	r, err := q.Result(out)
	if err != nil {
		t.Fatal(err)
	}
	return r
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueriesResultInWhatALoopComputes(t *testing.T) {
	for _, q := range nexmark.Queries() {
		t.Run(q.Name, func(t *testing.T) {
			t.Parallel()
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

// plug fails a job once: after a third of the events, when there is a checkpoint to go on
// from.
type plug struct {
	after  uint64
	seen   atomic.Uint64
	pulled atomic.Bool
	job    atomic.Pointer[overtake.Handle]
}

func (p *plug) check() error {
	n := p.seen.Add(1)
	if n < p.after || n%16 != 0 || p.pulled.Load() {
		return nil
	}
	if h := p.job.Load(); h != nil && len(h.Checkpoints()) > 0 && p.pulled.CompareAndSwap(false, true) {
		return errPulled
	}
	return nil
}

func TestResultsAreExactlyOnceWhateverFails(t *testing.T) {
	modes := []overtake.CheckpointMode{overtake.Aligned, overtake.Unaligned, overtake.Auto}
	for i, q := range nexmark.Queries() {
		t.Run(q.Name, func(t *testing.T) {
			t.Parallel()
			g := generator(t, small(1))
			w := want(t, q, g)
			for p := 1; p <= 3; p++ {
				mode := modes[(i+p)%len(modes)]
				opts := engine(p)
				opts.Restart = overtake.Restart{Attempts: 1, Delay: time.Millisecond}
				for _, fails := range []bool{false, true} {
					opts.Checkpoints = overtake.Checkpoints{Store: checkpoint.NewMemory(), Interval: time.Millisecond, Mode: mode, AlignmentTimeout: time.Millisecond}
					out := nexmark.Output{Folder: t.TempDir()}
					pull := plug{after: g.Events() / 3}
					s := nexmark.Setup{Engine: opts, Output: &out, Check: pull.check}
					if fails { // slow enough for a checkpoint in the middle
						s.Pace.Rate = 30_000
					}
					h, err := q.Job(g, s).Start(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					if fails {
						pull.job.Store(h)
					}
					if err := h.Wait(); err != nil {
						t.Fatal(err)
					}
					if fails && h.Restarts() != 1 {
						t.Errorf("parallelism %d, %v: %d restarts, want one in the middle", p, mode, h.Restarts())
					}
					if r := put(t, q, &out); r != w {
						t.Errorf("parallelism %d, %v, failure %v: %v, want %v", p, mode, fails, r, w)
					}
				}
			}
		})
	}
}

func TestQueriesAreFoundByName(t *testing.T) {
	if n := len(nexmark.Queries()); n != 24 { // q0 to q22, and a running aggregate
		t.Errorf("%d queries, want 24", n)
	}
	if list, err := nexmark.Find([]string{"q5", "q0"}); err != nil || len(list) != 2 || list[0].Name != "q5" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := nexmark.Find([]string{"q99"}); err == nil || !strings.Contains(err.Error(), "q9, q10, q11") {
		t.Errorf("%v, want which there are", err)
	}
}
