package operators_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/operators"
	"github.com/overtake-stream/overtake/statecow"
)

// rigGroups is the number of key groups of a rig.
const rigGroups = 16

// timed is what a keyed operator with timers does.
type timed[T any] interface {
	operators.Transform[T]
	operators.Timed
	operators.Clocked
}

// rig runs a keyed operator in several subtasks, with a watermark and a clock, and restarts
// it from snapshots at any parallelism.
type rig[T, O any] struct {
	t      *testing.T
	build  func(next operators.Collector[O]) (operators.Transform[T], error)
	subs   []*rigSub[T, O]
	out    []O
	clone  func(O) O // of what is lent; may be nil
	mark   int64
	now    int64       // Unix milliseconds
	urgent func() bool // ends a run of timers
	state  []*bytes.Buffer
}

// rigSub is a subtask. It implements operators.Stores.
type rigSub[T, O any] struct {
	rig    *rig[T, O]
	ctx    *operators.Context
	op     timed[T]
	keyed  *operators.KeyedStore
	groups statecow.Groups
}

// Collect implements operators.Collector.
func (r *rig[T, O]) Collect(v O) {
	if r.clone != nil {
		v = r.clone(v)
	}
	r.out = append(r.out, v)
}

// Keyed implements operators.Stores.
func (s *rigSub[T, O]) Keyed(_, _ string, _ bool) (*operators.KeyedStore, error) {
	m, err := statecow.New(statecow.Options{Budget: 2 * statecow.MinBudget, SegmentSize: 64 << 10, MaxGroups: rigGroups, Groups: s.groups})
	s.keyed = &operators.KeyedStore{Store: m, Fill: func(k *operators.KeyedStore) error {
		for _, b := range s.rig.state {
			if err := k.Store.Restore(bytes.NewReader(b.Bytes())); err != nil {
				return err
			}
		}
		return nil
	}}
	return s.keyed, err
}

// Pieces implements operators.Stores.
func (s *rigSub[T, O]) Pieces(string) [][]byte { return nil }

// Restored implements operators.Stores.
func (s *rigSub[T, O]) Restored() bool { return s.rig.state != nil }

// start builds the subtasks, which restore what stop has saved.
func (r *rig[T, O]) start(parallelism int) {
	r.t.Helper()
	for i := range parallelism {
		s := &rigSub[T, O]{rig: r, ctx: &operators.Context{Subtask: i, Parallelism: parallelism, MaxParallel: rigGroups, Watermark: r.mark}}
		s.groups.First, s.groups.End = operators.GroupRange(i, rigGroups, parallelism)
		s.ctx.SetStores(s)
		s.ctx.SetClock(func() int64 { return r.now * 1e6 }, false)
		s.ctx.SetUrgent(func() bool { return r.urgent != nil && r.urgent() })
		op, err := r.build(r)
		if err == nil {
			err = op.Open(s.ctx)
		}
		if err != nil {
			r.t.Fatal(err)
		}
		s.op = op.(timed[T])
		r.subs = append(r.subs, s)
	}
}

// stop ends the subtasks and saves their state.
func (r *rig[T, O]) stop() {
	r.t.Helper()
	var state []*bytes.Buffer
	for _, s := range r.subs {
		snap, err := s.keyed.Store.Snapshot()
		b := &bytes.Buffer{}
		if err == nil {
			_, err = snap.Write(b, 0)
			snap.Release()
		}
		if err != nil {
			r.t.Fatal(err)
		}
		state = append(state, b)
		if err := s.op.Close(false); err != nil {
			r.t.Fatal(err)
		}
		if err := s.keyed.Store.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	r.subs, r.state = nil, state
}

// record hands over a record with its key's hash. Without an event time, t is negative.
func (r *rig[T, O]) record(hash uint32, t int64, v T) {
	g := statecow.KeyGroup(hash, rigGroups)
	i := slices.IndexFunc(r.subs, func(s *rigSub[T, O]) bool { return s.groups.First <= g && g < s.groups.End })
	s := r.subs[i]
	s.ctx.Time, s.ctx.HasTime, s.ctx.Hash = t, t >= 0, hash
	s.op.Collect(v)
	if err := s.ctx.Err(); err != nil {
		r.t.Fatal(err)
	}
}

// watermark tells all subtasks the watermark once, and reports whether all are done.
func (r *rig[T, O]) watermark(mark int64) (done bool) {
	r.mark, done = mark, true
	for _, s := range r.subs {
		s.ctx.Watermark = mark
		d, err := s.op.OnWatermark(mark)
		if err != nil {
			r.t.Fatal(err)
		}
		done = done && d
	}
	return done
}

// clock fires all timers of processing time up to now once, and reports whether all are done.
func (r *rig[T, O]) clock(now int64) (done bool) {
	done = true
	for _, s := range r.subs {
		d, err := s.op.OnProcessingTime(now)
		if err != nil {
			r.t.Fatal(err)
		}
		done = done && d
	}
	return done
}

// left is the number of entries of state.
func (r *rig[T, O]) left() (n int) {
	for _, s := range r.subs {
		n += s.keyed.Store.Len()
	}
	return n
}
