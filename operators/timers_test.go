package operators_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/overtake-stream/overtake/operators"
)

// alarm is a record: set a timer of its key, delete one, or neither.
type alarm struct {
	Key         uint64
	Set, Delete int64
}

// clockwork is a Processor that does what records say, and tells which timers fire.
type clockwork struct {
	ctx   *operators.KeyedContext
	again int64 // a timer sets the next one so much later; 0: none
}

func (c *clockwork) Open(ctx *operators.KeyedContext) error { c.ctx = ctx; return nil }

func (c *clockwork) Process(_ uint64, a alarm, _ operators.Collector[string]) error {
	if a.Set != 0 {
		if err := c.ctx.SetProcessingTimer(a.Set); err != nil {
			return err
		}
	}
	if a.Delete != 0 {
		return c.ctx.DeleteProcessingTimer(a.Delete)
	}
	return nil
}

func (c *clockwork) OnProcessingTimer(key uint64, at int64, out operators.Collector[string]) error {
	if c.ctx.HasTime {
		return fmt.Errorf("a timer of processing time has event time %d", c.ctx.Time)
	}
	out.Collect(fmt.Sprint(at, " ", key))
	if c.again > 0 {
		return c.ctx.SetProcessingTimer(at + c.again)
	}
	return nil
}

func alarmRig(t *testing.T, again int64) *rig[alarm, string] {
	return &rig[alarm, string]{t: t, build: func(next operators.Collector[string]) (operators.Transform[alarm], error) {
		return operators.Process[uint64, alarm, string](func(a alarm) uint64 { return a.Key }, &clockwork{again: again}, next)
	}}
}

// Timers of processing time fire as a list of them says, wherever the job is restarted.
func TestProcessingTimersFireOnceAndInOrder(t *testing.T) {
	hash := operators.HasherFor[uint64](nil)
	type timer struct {
		at  int64
		key uint64
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 6))
		rig := alarmRig(t, 0)
		parallelism := 1 + r.IntN(3)
		rig.start(parallelism)
		rig.urgent = func() bool { return r.IntN(3) == 0 }
		restart := func() {
			if r.IntN(5) == 0 {
				rig.stop()
				rig.start(1 + r.IntN(3))
			}
		}
		set := map[timer]bool{}
		var want []string
		for rig.now = 100; rig.now < 400; rig.now += r.Int64N(20) {
			for range r.IntN(10) {
				key, at := r.Uint64N(20), rig.now+r.Int64N(60)-20
				if r.IntN(3) == 0 {
					delete(set, timer{at, key})
					rig.record(hash(key), -1, alarm{Key: key, Delete: at})
				} else {
					set[timer{at, key}] = true
					rig.record(hash(key), -1, alarm{Key: key, Set: at})
				}
			}
			restart()
			from := len(rig.out)
			for !rig.clock(rig.now) {
				restart()
			}
			want = want[:0]
			for x := range set {
				if x.at <= rig.now {
					want = append(want, fmt.Sprint(x.at, " ", x.key))
					delete(set, x)
				}
			}
			slices.Sort(want)
			got := slices.Clone(rig.out[from:])
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("seed %d at %d: fired %v, want %v", seed, rig.now, got, want)
			}
		}
		first, ok := int64(0), false
		for x := range set {
			if !ok || x.at < first {
				first, ok = x.at, true
			}
		}
		due, has := int64(0), false
		for _, s := range rig.subs {
			if at, ok := s.op.ProcessingDue(); ok && (!has || at < due) {
				due, has = at, true
			}
		}
		if due != first || has != ok {
			t.Fatalf("seed %d: the first timer is due at %d (%v), want %d (%v)", seed, due, has, first, ok)
		}
		rig.stop()
	}
}

func TestProcessingTimersOfOneTimeKeepTheirOrder(t *testing.T) {
	hash := operators.HasherFor[uint64](nil)
	run := func(restarts bool) []string {
		rig := alarmRig(t, 0)
		rig.start(1)
		for key := range uint64(100) {
			rig.record(hash(key), -1, alarm{Key: key, Set: 10 + int64(key%3)})
		}
		rig.urgent = func() bool { return true }
		for !rig.clock(1000) {
			if restarts {
				rig.stop()
				rig.start(1)
			}
		}
		rig.stop()
		return rig.out
	}
	if once, again := run(false), run(true); len(once) != 100 || !slices.Equal(once, again) {
		t.Errorf("%v\nwith restarts %v", once, again)
	}
}

// At the end of the input timers fire early, and set no more: else a periodic one never ends.
func TestPeriodicTimersEndWithTheInput(t *testing.T) {
	rig := alarmRig(t, 10)
	rig.start(1)
	hash := operators.HasherFor[uint64](nil)
	rig.record(hash(7), -1, alarm{Key: 7, Set: 100})
	rig.clock(125)
	if want := []string{"100 7", "110 7", "120 7"}; !slices.Equal(rig.out, want) {
		t.Errorf("fired %v, want %v", rig.out, want)
	}
	rig.clock(operators.LastWatermark)
	if want := "130 7"; len(rig.out) != 4 || rig.out[3] != want || rig.left() != 0 {
		t.Errorf("fired %v, %d entries left", rig.out, rig.left())
	}
	rig.stop()
}

// forgetful has no OnProcessingTimer.
type forgetful struct{ ctx *operators.KeyedContext }

func (f *forgetful) Open(ctx *operators.KeyedContext) error { f.ctx = ctx; return nil }

func (f *forgetful) Process(uint64, alarm, operators.Collector[string]) error {
	if f.ctx.SetProcessingTimer(1) != operators.ErrProcessingTimers || f.ctx.DeleteProcessingTimer(1) != operators.ErrProcessingTimers {
		return fmt.Errorf("timers without somebody to call")
	}
	return nil
}

func TestProcessingTimersNeedSomebodyToCall(t *testing.T) {
	rig := alarmRig(t, 0)
	rig.build = func(next operators.Collector[string]) (operators.Transform[alarm], error) {
		return operators.Process[uint64, alarm, string](func(a alarm) uint64 { return a.Key }, &forgetful{}, next)
	}
	rig.start(1)
	rig.record(0, -1, alarm{})
	rig.stop()
}

// The clock of a subtask does not go back.
func TestProcessingTimeDoesNotGoBack(t *testing.T) {
	ctx, now := &operators.Context{}, int64(5e6)
	ctx.SetClock(func() int64 { return now }, false)
	if at := ctx.ProcessingTime(); at != 5 {
		t.Errorf("got %d", at)
	}
	now = 3e6
	if at := ctx.ProcessingTime(); at != 5 {
		t.Errorf("it went back to %d", at)
	}
}

// Windows of processing time have what came in them, also at the end.
func TestProcessingWindowsHaveWhatCameInThem(t *testing.T) {
	hash := operators.HasherFor[string](nil)
	for _, cut := range []operators.Windows{{Size: 10}, {Size: 10, Slide: 3}} {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 7))
			rig := visitRig(t, cut.ProcessingTime())
			rig.start(2)
			slide := max(cut.Slide, 1)
			if cut.Slide == 0 {
				slide = cut.Size
			}
			type place struct {
				key   string
				start int64
			}
			want := map[place]*visits{}
			for n := range uint32(100) {
				key := string(rune('a' + r.IntN(3)))
				for start := rig.now - rig.now%slide; start > rig.now-cut.Size; start -= slide {
					p := place{key, start}
					if want[p] == nil {
						want[p] = &visits{}
					}
					gatherVisits.Add(want[p], visit{key, n})
				}
				rig.record(hash(key), -1, visit{key, n})
				if r.IntN(4) == 0 {
					rig.now += r.Int64N(12)
					rig.clock(rig.now)
				}
				if r.IntN(20) == 0 {
					rig.stop()
					rig.start(1 + r.IntN(3))
				}
			}
			rig.clock(operators.LastWatermark)
			var list []visited
			for p, acc := range want {
				list = append(list, visited{Key: p.key, Start: p.start, End: p.start + cut.Size, Value: gatherVisits.Result(acc)})
			}
			if got := sorted(rig.out); !slices.Equal(got, sorted(list)) {
				t.Fatalf("seed %d, %+v:\ngot  %v\nwant %v", seed, cut, got, sorted(list))
			}
			if n := rig.left(); n != 0 {
				t.Errorf("%d entries are left", n)
			}
			rig.stop()
		}
	}
}
