package sim

import (
	"time"

	"github.com/overtake-stream/overtake/internal/task"
)

// edgeError is what each crossing of an edge adds to the error of a latency.
const edgeError = 7 * time.Nanosecond

// peerClock is the clock of a subtask that another one receives from.
type peerClock struct{ from, to *sub }

// At implements task.PeerClock.
func (c peerClock) At(time.Duration) (ahead, bound time.Duration, ok bool) {
	return c.from.skew - c.to.skew, edgeError, true
}

// Now implements perf.Clock: the subtask's own.
func (s *sub) Now() time.Duration { return s.a.w.now + s.skew }

// markers is what the subtask needs to measure latencies.
func (s *sub) markers() *task.Markers {
	p := s.a.w.plan
	if p.markers == 0 {
		return nil
	}
	// Days apart, and another one in each attempt. No clock begins before 0.
	s.skew = time.Duration(mix(uint64(s.member)+s.a.epoch<<8+p.Seed<<32) % 1e15)
	m := &task.Markers{Interval: p.markers}
	for _, n := range p.graph.nodes {
		if n.kind != source {
			continue
		}
		if n == s.node {
			m.Source = len(m.Sources)
		}
		m.Sources = append(m.Sources, s.a.par[n.id])
	}
	for _, e := range s.node.inputs {
		for _, from := range e.senders(s.a.par, s.index) {
			m.Clocks = append(m.Clocks, peerClock{s.a.find(e.from, from), s})
		}
	}
	return m
}

// judgeLatencies looks at what markers have measured.
func (a *attempt) judgeLatencies() {
	for _, s := range a.subs {
		for _, l := range s.task.Latencies() {
			a.w.measured += int(l.Times.Count())
			if longest := time.Duration(l.Times.Max()); longest > a.w.now-a.began {
				a.w.fail("%v: a marker of source %d has taken %v, in an attempt of %v", s, l.Source, longest, a.w.now-a.began)
			}
			hops := time.Duration(len(a.w.plan.graph.nodes) - 1)
			if l.Error > hops*edgeError || l.Error%edgeError != 0 || (l.Error == 0) != (s.node.kind == source) || l.Lost > 0 {
				a.w.fail("%v: the error of source %d's markers is %v, and %d are lost", s, l.Source, l.Error, l.Lost)
			}
		}
	}
}
