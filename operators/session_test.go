package operators_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/overtake-stream/overtake/operators"
)

// visit is a record: who, and which one.
type visit struct {
	Key string
	N   uint32
}

// visits is an accumulator that is no plain memory.
type visits struct {
	Sum int64
	Ns  []uint32
}

var gatherVisits = operators.Aggregator[visit, visits, string]{
	Add:   func(a *visits, v visit) { a.Sum += int64(v.N); a.Ns = append(a.Ns, v.N) },
	Merge: func(a, o *visits) { a.Sum += o.Sum; a.Ns = append(a.Ns, o.Ns...) },
	Result: func(a *visits) string {
		ns := slices.Clone(a.Ns)
		slices.Sort(ns)
		return fmt.Sprint(a.Sum, ns)
	},
}

func keyOfVisit(v visit) string { return v.Key }

type visited = operators.Windowed[string, string]

func visitRig(t *testing.T, cut operators.Windows) *rig[visit, visited] {
	clone := func(v visited) visited { v.Key = strings.Clone(v.Key); return v }
	return &rig[visit, visited]{t: t, mark: operators.NoWatermark, clone: clone, build: func(next operators.Collector[visited]) (operators.Transform[visit], error) {
		return operators.WindowAggregate(keyOfVisit, cut, gatherVisits, next)
	}}
}

// plainSessions computes sessions from scratch: it keeps every record of those that have not ended.
type plainSessions struct {
	gap  int64
	open map[string][]plainVisit
	out  []visited
}

type plainVisit struct {
	at int64
	n  uint32
}

// groups are the sessions of a key's records, by time.
func (p *plainSessions) groups(key string) (list [][]plainVisit) {
	all := slices.Clone(p.open[key])
	slices.SortStableFunc(all, func(a, b plainVisit) int { return cmp.Compare(a.at, b.at) })
	for i, v := range all {
		if i == 0 || v.at-all[i-1].at >= p.gap {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], v)
	}
	return list
}

func (p *plainSessions) add(key string, v plainVisit, mark int64) {
	joins := slices.ContainsFunc(p.groups(key), func(g []plainVisit) bool {
		return g[0].at < v.at+p.gap && v.at < g[len(g)-1].at+p.gap
	})
	if joins || v.at+p.gap-1 > mark {
		p.open[key] = append(p.open[key], v)
	}
}

// end passes on what ends up to a time.
func (p *plainSessions) end(at int64) {
	for key := range p.open {
		var rest []plainVisit
		for _, g := range p.groups(key) {
			end := g[len(g)-1].at + p.gap
			if end-1 > at {
				rest = append(rest, g...)
				continue
			}
			acc := visits{}
			for _, v := range g {
				gatherVisits.Add(&acc, visit{key, v.n})
			}
			p.out = append(p.out, visited{Key: key, Start: g[0].at, End: end, Value: gatherVisits.Result(&acc)})
		}
		if p.open[key] = rest; rest == nil {
			delete(p.open, key)
		}
	}
}

func sorted(list []visited) []visited {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b visited) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// Sessions are those that are computed from scratch, whatever the order and the lateness of
// records, and wherever the job is restarted, at whatever parallelism.
func TestSessionsAreThoseComputedFromScratch(t *testing.T) {
	hash := operators.HasherFor[string](nil)
	for _, processing := range []bool{false, true} {
		merged, late, restarts := 0, 0, 0
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 5))
			gap := 1 + r.Int64N(20)
			cut := operators.Windows{Gap: gap, Processing: processing}
			rig, want := visitRig(t, cut), plainSessions{gap: gap, open: map[string][]plainVisit{}}
			rig.start(1 + r.IntN(3))
			rig.now = 1000
			interrupted := r.IntN(2) == 0
			rig.urgent = func() bool { return interrupted && r.IntN(3) == 0 }
			restart := func() {
				if r.IntN(4) == 0 {
					restarts++
					rig.stop()
					rig.start(1 + r.IntN(3))
				}
			}
			time, mark := int64(1000), int64(operators.NoWatermark)
			for n := range uint32(1 + r.IntN(200)) {
				key := string(rune('a' + r.IntN(1+r.IntN(5))))
				at := max(0, time+r.Int64N(60)-30)
				if processing {
					at = rig.now
				}
				before := len(want.open[key])
				groups := len(want.groups(key))
				want.add(key, plainVisit{at, n}, mark)
				if len(want.open[key]) == before {
					late++
				} else if len(want.groups(key)) < groups {
					merged++
				}
				rig.record(hash(key), at, visit{key, n})
				if r.IntN(3) > 0 {
					continue
				}
				time += r.Int64N(30)
				restart()
				if processing {
					rig.now += r.Int64N(30)
					for !rig.clock(rig.now) {
						restart()
					}
					want.end(rig.now - 1)
				} else {
					mark = max(mark, time-r.Int64N(40))
					for !rig.watermark(mark) {
						restart()
					}
					want.end(mark)
				}
				restart()
			}
			if processing {
				for !rig.clock(operators.LastWatermark) {
					restart()
				}
			} else {
				for !rig.watermark(operators.LastWatermark) {
					restart()
				}
			}
			want.end(operators.LastWatermark)
			if got, want := sorted(rig.out), sorted(want.out); !slices.Equal(got, want) {
				t.Fatalf("seed %d, %+v:\ngot  %v\nwant %v", seed, cut, got, want)
			}
			if n := rig.left(); n != 0 {
				t.Errorf("seed %d: %d entries are left of sessions that have ended", seed, n)
			}
			rig.stop()
		}
		if restarts == 0 || !processing && (merged == 0 || late == 0) {
			t.Errorf("%d restarts, %d merges, %d late records: nothing is tested", restarts, merged, late)
		}
	}
}

// Results come in the order of time, and those of one time in the same order after a restore.
func TestSessionsEndInTheSameOrderAfterARestore(t *testing.T) {
	hash := operators.HasherFor[string](nil)
	run := func(restarts bool) []visited {
		rig := visitRig(t, operators.Windows{Gap: 10})
		rig.start(1)
		for n := range uint32(200) {
			key := fmt.Sprint("k", n%50)
			rig.record(hash(key), int64(n/100)*15, visit{key, n})
		}
		rig.urgent = func() bool { return true }
		for !rig.watermark(1000) {
			if restarts {
				rig.stop()
				rig.start(1)
			}
		}
		rig.stop()
		return rig.out
	}
	once, again := run(false), run(true)
	if len(once) != 100 || !slices.Equal(once, again) {
		t.Errorf("%d results:\n%v\nwith restarts:\n%v", len(once), once, again)
	}
	if !slices.IsSortedFunc(once, func(a, b visited) int { return cmp.Compare(a.End, b.End) }) {
		t.Errorf("results are not in the order of time: %v", once)
	}
}

// A record that comes in order costs a session no timer.
func TestASessionHasOneTimer(t *testing.T) {
	hash := operators.HasherFor[string](nil)
	rig := visitRig(t, operators.Windows{Gap: 10})
	rig.start(1)
	for n := range uint32(100) {
		rig.record(hash("a"), int64(5*n), visit{"a", n})
		rig.watermark(int64(5 * n))
	}
	if n := rig.left(); n != 2 { // the key's sessions and the timer
		t.Errorf("%d entries, want 2", n)
	}
	if len(rig.out) != 0 {
		t.Errorf("a session has ended: %v", rig.out)
	}
	rig.stop()
}

func TestSessionsNeedMerge(t *testing.T) {
	agg := gatherVisits
	agg.Merge = nil
	if _, err := operators.WindowAggregate(keyOfVisit, operators.Windows{Gap: 10}, agg, nil); !errors.Is(err, operators.ErrMerge) {
		t.Errorf("got %v", err)
	}
	for _, bad := range []operators.Windows{{Gap: -1}, {Gap: 5, Size: 5}, {Gap: 5, Slide: 1}} {
		if _, err := operators.WindowAggregate(keyOfVisit, bad, gatherVisits, nil); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// An accumulator of another layout is refused.
func TestStateOfSessionsKnowsItsLayout(t *testing.T) {
	layout := func(cut operators.Windows, wide bool) string {
		r := visitRig(t, cut)
		if wide {
			r.build = func(next operators.Collector[visited]) (operators.Transform[visit], error) {
				type visits struct{ Sum, More int64 }
				return operators.WindowAggregate(keyOfVisit, cut, operators.Aggregator[visit, visits, string]{
					Add: func(*visits, visit) {}, Merge: func(_, _ *visits) {}, Result: func(*visits) string { return "" },
				}, next)
			}
		}
		r.start(1)
		defer r.stop()
		return r.subs[0].keyed.Layout
	}
	sessions := operators.Windows{Gap: 10}
	if layout(sessions, false) == layout(sessions, true) {
		t.Error("accumulators of different types have the same layout")
	}
}
