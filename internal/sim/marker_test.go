package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/internal/invariant"
	"github.com/overtake-stream/overtake/internal/task"
	"github.com/overtake-stream/overtake/netstack/record"
	"github.com/overtake-stream/overtake/operators"
)

const (
	markerEvery = time.Hour
	recordTakes = 10 * time.Millisecond
)

// slow is an operator that takes its time for each record.
type slow struct {
	ledger
	w *world
}

func (o *slow) Collect(v rec) {
	o.w.now += recordTakes
	o.ledger.Collect(v)
}

// markerRig is a rig with latency markers whose ledger is slow. Its sources have begun.
func markerRig(t *testing.T, mode protocol.Mode, length int) (r *rig, due time.Duration) {
	r = newRig(t, mode, length, func(p *Plan) {
		p.markers = markerEvery
		p.operator = func(s *sub, next operators.Collector[rec]) operators.Transform[rec] {
			return &slow{ledger{next: next}, s.a.w}
		}
	})
	due = r.w.now + markerEvery
	for _, s := range r.a.subs {
		for s.step(); s.next == task.Ready; s.step() { // it opens, and time stands still
		}
	}
	return r, due
}

// run runs a subtask as far as it can go. No time passes but what records take.
func (r *rig) run(s *sub) {
	for i := 0; i < 1000 && !s.over && (s.next == task.Ready || s.parker.Notified()); i++ {
		s.step()
	}
	r.hear(s)
}

// due runs a subtask whose time has come.
func (r *rig) due(s *sub) {
	if at, ok := s.runnable(r.w.now); !ok || at > r.w.now {
		r.tb.Errorf("%v has nothing to do at %v", s, r.w.now)
	}
	s.step()
	r.run(s)
}

// latency is the longest of the markers of a source, and how many there are.
func (r *rig) latency(s *sub, source int) (longest time.Duration, n int) {
	for _, l := range s.task.Latencies() {
		if l.Source == source {
			return time.Duration(l.Times.Max()), int(l.Times.Count())
		}
	}
	return 0, 0
}

func (r *rig) expect(s *sub, source int, longest time.Duration, n int) {
	r.tb.Helper()
	if got, count := r.latency(s, source); got != longest || count != n {
		r.tb.Errorf("%v: %d markers, the longest took %v, want %d and %v", s, count, got, n, longest)
	}
}

// A marker takes as long as the records before it need, in all modes, with a checkpoint
// in between whose barriers go ahead of them or not.
func TestMarkersWaitBehindRecords(t *testing.T) {
	for _, mode := range append(allModes, protocol.AtLeastOnce) {
		t.Run(mode.String(), func(t *testing.T) {
			r, due := markerRig(t, mode, 7)
			for i := range r.src {
				r.quota[i] = 4
				r.src[i].parker.Wake()
				r.run(r.src[i])
				r.tell(r.src[i], task.Trigger, 1)
				r.run(r.src[i])
			}
			r.quota[0] = 3
			r.src[0].parker.Wake()
			r.run(r.src[0])
			r.w.now = due // of both
			r.due(r.src[0])
			r.due(r.src[1])
			r.expect(r.src[0], 0, 0, 1)
			r.expect(r.mid, 0, 0, 0)
			r.run(r.mid)
			took, count := r.latency(r.mid, 0)
			if count != 1 || took < 7*recordTakes || took > 11*recordTakes || took%recordTakes != 0 {
				t.Errorf("a marker behind 7 records took %v (%d)", took, count)
			}
			if sum := r.w.now - due; sum != 11*recordTakes {
				t.Errorf("11 records took %v", sum)
			}
			other, _ := r.latency(r.mid, 1)
			if last := max(took, other); last != 11*recordTakes {
				t.Errorf("the later marker was taken after %v, want to see all 11 records before it", last)
			}
			r.w.now += time.Second
			r.run(r.end)
			r.expect(r.end, 0, 11*recordTakes+time.Second, 1)
			r.expect(r.end, 1, 11*recordTakes+time.Second, 1)
			r.expect(r.src[1], 0, 0, 0)
			r.settleAll()
			if err := r.consistent(1); err != nil && mode != protocol.AtLeastOnce {
				t.Error(err)
			}
			r.close()
		})
	}
}

// A source that cannot send when a marker is due sends it later, with the wait in it; those
// that were due meanwhile are left out.
func TestMarkersOfASourceThatIsHeldUp(t *testing.T) {
	r, due := markerRig(t, protocol.Aligned, 1000)
	r.quota[0] = 500
	r.src[0].parker.Wake()
	r.run(r.src[0])
	if r.src[0].next != task.AwaitOutput {
		t.Fatalf("the source waits for %v", r.src[0].next)
	}
	r.w.now = due + 5*markerEvery/2
	if at, ok := r.src[0].runnable(r.w.now); ok {
		t.Fatalf("a source that waits for output goes on at %v", at)
	}
	r.due(r.src[1])
	r.expect(r.src[1], 1, 0, 1) // was idle: nothing that it had read would have waited
	for i := 0; i < 1000; i++ {
		r.run(r.mid)
		r.run(r.end)
		r.run(r.src[0])
		if _, n := r.latency(r.src[0], 0); n > 0 {
			break
		}
	}
	took, n := r.latency(r.src[0], 0)
	if n != 1 || took < 5*markerEvery/2 || took > 5*markerEvery/2+time.Minute {
		t.Errorf("%d markers, which had to wait for %v, want one after %v", n, took, 5*markerEvery/2)
	}
	r.close()
}

// After its end a source sends no more, and has nothing to wake up for.
func TestMarkersEndWithTheirSource(t *testing.T) {
	r, due := markerRig(t, protocol.Aligned, 0)
	r.finish(0)
	r.w.now = due + 10*markerEvery
	for _, s := range r.a.subs {
		r.run(s)
	}
	r.due(r.src[1])
	r.expect(r.src[0], 0, 0, 0)
	if _, n := r.latency(r.src[1], 1); n == 0 {
		t.Error("the other source has sent none either")
	}
	if at, ok := r.src[0].runnable(r.w.now); ok {
		t.Errorf("it goes on at %v", at)
	}
	r.close()
}

// A marker that was in flight when a checkpoint was taken is dropped when that is restored:
// it would tell the time since then.
func TestMarkersInFlightAreNotRestored(t *testing.T) {
	r := newRig(t, protocol.Unaligned, 10, func(p *Plan) { p.markers = markerEvery })
	r.replay(5)
	mark := record.Append(nil, record.Record{Kind: record.Marker, Payload: make([]byte, 24)})
	r.addInFlight(mark)
	for range 5 { // also those that are captured again
		r.mid.step()
	}
	r.tell(r.src[0], task.Trigger, 1)
	r.tell(r.src[1], task.Trigger, 1)
	r.settleAll()
	r.expect(r.mid, 0, 0, 0)
	r.expect(r.end, 0, 0, 0)
	if err := r.consistent(1); err != nil {
		t.Error(err)
	}
	r.close()
}

// addInFlight adds bytes behind the records that replay restores.
func (r *rig) addInFlight(b []byte) {
	share := r.share
	for i := range share.InFlight {
		share.InFlight[i].Records = append(share.InFlight[i].Records, b...)
	}
	r.mid.task.Restore(share, 0)
}

// Every subtask gets its share of the markers, over every kind of edge; of a broadcast, all.
func TestMarkersTakeAllChannels(t *testing.T) {
	const rounds = 36
	for _, c := range []struct {
		first, second pattern
		par           []int
		mid, end      []int // markers of each subtask
	}{
		{rebalance, rebalance, []int{2, 3, 2}, []int{24, 24, 24}, []int{36, 36}},
		{keyed, custom, []int{3, 2, 3}, []int{54, 54}, []int{36, 36, 36}},
		{forward, forward, []int{2, 2, 2}, []int{36, 36}, []int{36, 36}},
		{forward, rescale, []int{2, 2, 4}, []int{36, 36}, []int{18, 18, 18, 18}},
		{rescale, keyed, []int{4, 2, 3}, []int{72, 72}, []int{48, 48, 48}},
		{broadcast, rebalance, []int{1, 3, 2}, []int{36, 36, 36}, []int{54, 54}},
		{broadcast, broadcast, []int{2, 2, 2}, []int{72, 72}, []int{144, 144}},
	} {
		t.Run(fmt.Sprint(c.first, c.second, c.par), func(t *testing.T) {
			a := idleJob(t, c.first, c.second, c.par)
			for range rounds {
				a.w.now += markerEvery
				a.runAll()
			}
			got := map[*node][]int{}
			for _, s := range a.subs {
				n := 0
				for _, l := range s.task.Latencies() {
					n += int(l.Times.Count())
				}
				got[s.node] = append(got[s.node], n)
			}
			nodes := a.w.plan.graph.nodes
			if fmt.Sprint(got[nodes[1]]) != fmt.Sprint(c.mid) || fmt.Sprint(got[nodes[2]]) != fmt.Sprint(c.end) {
				t.Errorf("markers: %v, then %v, want %v, then %v", got[nodes[1]], got[nodes[2]], c.mid, c.end)
			}
			a.failed = "the test has ended"
			a.end()
			for _, f := range a.w.findings {
				t.Error(f)
			}
		})
	}
}

// A marker costs no memory, however far it goes.
func TestMarkersAllocateNothing(t *testing.T) {
	a := idleJob(t, keyed, broadcast, []int{2, 3, 2})
	round := func() {
		a.w.now += markerEvery
		a.runAll()
	}
	for range 20 { // histograms and queues are made
		round()
	}
	if n := testing.AllocsPerRun(50, round); n > 0 && !invariant.Enabled {
		t.Errorf("%v allocations for a round of markers", n)
	}
	a.failed = "the test has ended"
	a.end()
}

// idleJob is a source whose splits have nothing yet, a mapper and a sink.
func idleJob(t *testing.T, first, second pattern, par []int) *attempt {
	g := &graph{}
	src, mid, end := g.add(source), g.add(mapper), g.add(sink)
	src.lengths = []int{1, 1, 1, 1}
	g.connect(src, mid, first)
	g.connect(mid, end, second)
	p := &Plan{
		graph: g, keys: 1, groups: 4, limit: 4, segment: 256, extra: 100, exclusive: 2, floating: 8, overdraft: 5, maxQueued: 10,
		flush: -1, interval: time.Hour, concurrent: 1, overtake: 1, slow: 1, delay: 1, tick: 1, markers: markerEvery,
	}
	p.may = func(*node, int) bool { return false }
	w := &world{plan: p, rand: rand.New(rand.NewPCG(1, 2)), altered: map[flightID]bool{}}
	w.store = &store{Store: checkpoint.NewMemory(), w: w}
	w.sink = &committed{w: w, prepared: map[transaction][]rec{}, done: map[transaction]bool{}}
	a, err := newAttempt(w, par, protocol.Aligned)
	if err != nil {
		t.Fatal(err)
	}
	a.runAll()
	return a
}

// runAll runs all subtasks as far as they can go now.
func (a *attempt) runAll() {
	for ran := true; ran; {
		ran = false
		for _, s := range a.subs {
			if at, ok := s.runnable(a.w.now); ok && at <= a.w.now {
				s.step()
				ran = true
			}
		}
	}
}
