package protocol_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

var barriersAll = flag.Bool("barriers.all", false, "search the larger cases of the barrier machine as well")

// TestBarriersExhaustive goes through all orders of arrivals, barriers that are lost
// upstream, ends, aborts, announcements and timeouts.
func TestBarriersExhaustive(t *testing.T) {
	all := []Mode{Aligned, AtLeastOnce, Unaligned, Auto}
	for _, a := range all {
		if a != Auto || *barriersAll {
			exploreBarriers(t, 2, []Mode{a, a, a})
			exploreBarriers(t, 3, []Mode{a, a})
		}
		exploreBarriers(t, 2, []Mode{a, a})
		for _, b := range all {
			if a != b {
				exploreBarriers(t, 2, []Mode{a, b})
			}
		}
	}
	exploreBarriers(t, 2, []Mode{Auto, Auto, Aligned})
	exploreBarriers(t, 2, []Mode{Aligned, Unaligned, Auto})
	exploreBarriers(t, 2, []Mode{Auto, AtLeastOnce, Unaligned})
	exploreBarriers(t, 2, []Mode{Unaligned, Aligned, AtLeastOnce})
	if *barriersAll {
		exploreBarriers(t, 3, []Mode{Auto, Unaligned})
	}
}

func exploreBarriers(t *testing.T, channels int, modes []Mode) {
	t.Helper()
	t.Run(fmt.Sprint(channels, modes), func(t *testing.T) {
		s := &barrierSearch{t: t, seen: map[string]struct{}{}}
		s.visit(newBarrierWatch(channels, modes))
		t.Logf("%d states, %d ends", len(s.seen), s.leaves)
	})
}

type barrierSearch struct {
	t      *testing.T
	seen   map[string]struct{}
	leaves int
	key    []byte
}

func (s *barrierSearch) visit(w *barrierWatch) {
	s.key = w.fingerprint(s.key[:0])
	if _, seen := s.seen[string(s.key)]; seen {
		return
	}
	s.seen[string(s.key)] = struct{}{}
	s.idle(w)
	leaf := true
	for ch := range w.gone {
		leaf = leaf && w.ended(ch)
		s.channel(w, ch)
	}
	for i := range w.modes {
		id := ID(i + 1)
		if w.aborted&bit(i) == 0 && w.state[i] < done {
			s.step(w, "abort", id, -1, func(w *barrierWatch) {
				w.aborted |= bit(i)
				w.perform(w.m.Abort(nil, id))
			})
		}
	}
	if at, ok := w.m.Deadline(); ok {
		s.promoting(w, "expire", 0, -1, func(w *barrierWatch) { w.perform(w.m.Expire(nil, at)) })
	}
	if leaf {
		s.leaves++
		s.last(w)
	}
}

// channel does what one channel may do next.
func (s *barrierSearch) channel(w *barrierWatch, ch int) {
	if w.ended(ch) {
		return
	}
	next, more := w.next(ch)
	if !more {
		if w.blocked[ch] == 0 {
			s.step(w, "end", 0, ch, func(w *barrierWatch) {
				w.gone[ch] |= bit(len(w.modes))
				w.perform(w.m.End(nil, ch))
			})
		}
		return
	}
	if w.told[ch]&bit(next-1) == 0 {
		s.step(w, "lost", next, ch, func(w *barrierWatch) { w.gone[ch] |= bit(next - 1) })
	}
	if w.modes[next-1] == Auto {
		s.step(w, "announce", next, ch, func(w *barrierWatch) { w.announce(ch, next) })
	}
	if w.blocked[ch] == 0 {
		s.promoting(w, "arrive", next, ch, func(w *barrierWatch) { w.arrive(ch, next, false) })
	}
	for id := next; int(id) <= len(w.modes); id++ {
		if w.gone[ch]&bit(id-1) == 0 && w.modes[id-1] >= Unaligned {
			s.promoting(w, "overtakes", id, ch, func(w *barrierWatch) { w.overtaken(ch, id) })
		}
	}
}

// overtaken is the arrival of a barrier that has passed data; those that it would have passed
// come along.
func (w *barrierWatch) overtaken(ch int, id ID) {
	for earlier := ID(1); earlier <= id; earlier++ {
		if w.gone[ch]&bit(earlier-1) == 0 {
			w.arrive(ch, earlier, true)
		}
	}
}

func (w *barrierWatch) announce(ch int, id ID) {
	w.told[ch] |= bit(id - 1)
	actions := w.m.Announce(nil, ch, w.barrier(id))
	if len(actions) == 0 && w.state[id-1] == fresh {
		w.state[id-1] = begun
	}
	w.perform(actions)
}

// promoting tries an event twice: while nothing is queued, and while all is.
func (s *barrierSearch) promoting(w *barrierWatch, verb string, id ID, ch int, do func(*barrierWatch)) {
	s.step(w, verb, id, ch, do)
	s.step(w, verb+" with all queued", id, ch, func(w *barrierWatch) {
		before := slices.Clone(w.state)
		w.queued = true
		do(w)
		w.queued = false
		w.checkPromoted(before)
	})
}

func (s *barrierSearch) step(w *barrierWatch, verb string, id ID, ch int, do func(*barrierWatch)) {
	d := w.clone()
	d.trail = &barrierStep{before: w.trail, verb: verb, id: id, ch: ch}
	do(d)
	d.check()
	s.visit(d)
}

// idle tries events that must change nothing.
func (s *barrierSearch) idle(w *barrierWatch) {
	before := string(w.fingerprint(nil))
	try := func(name string, actions []Action, why ...Why) {
		if len(actions) != 1 || actions[0].Kind != Ignored || !slices.Contains(why, actions[0].Why) {
			w.fail("%s: %v", name, actions)
		}
		if string(w.fingerprint(nil)) != before {
			w.fail("%s has changed something", name)
		}
	}
	try("abort of 0", w.m.Abort(nil, 0), Unknown)
	try("barrier of no channel", w.m.Arrive(nil, len(w.gone), w.barrier(1), true), Unknown)
	try("end of no channel", w.m.End(nil, -1), Unknown)
	for ch := range w.gone {
		if w.ended(ch) {
			try("second end", w.m.End(nil, ch), Duplicate)
			try("barrier after the end", w.m.Arrive(nil, ch, w.barrier(1), true), AfterEnd)
		} else {
			try("direct trigger", w.m.Trigger(nil, w.barrier(1)), NotReady)
		}
		for i := range w.modes {
			if w.here[ch]&bit(i) != 0 && !w.ended(ch) {
				try("repeated barrier", w.m.Arrive(nil, ch, w.barrier(ID(i+1)), true), Duplicate, Stale)
				try("late announcement", w.m.Announce(nil, ch, w.barrier(ID(i+1))), Duplicate, Stale)
			}
		}
	}
	for i, state := range w.state {
		if state >= done {
			try("abort of what has ended", w.m.Abort(nil, ID(i+1)), Aborted, Stale)
		}
	}
}

// last: all channels have ended. Nothing is open, what all channels have delivered is
// done, and only new checkpoints can be triggered.
func (s *barrierSearch) last(w *barrierWatch) {
	if w.m.Open() != 0 {
		w.fail("%d rounds are open although all channels have ended", w.m.Open())
	}
	for i, state := range w.state {
		whole, none := true, true
		for ch := range w.gone {
			whole = whole && w.here[ch]&bit(i) != 0
			none = none && w.here[ch]&bit(i) == 0
		}
		if whole && state != done && w.aborted&bit(i) == 0 {
			w.fail("all channels have delivered barrier %d, and it is in state %d", i+1, state)
		}
		if none && state == done {
			w.fail("no channel has delivered barrier %d, and it is done", i+1)
		}
		if !none && state < done && w.aborted&bit(i) == 0 {
			w.fail("barrier %d was seen, and is in state %d", i+1, state)
		}
	}
	next := ID(len(w.modes) + 1)
	d := w.m.Clone()
	if got := d.Trigger(nil, Barrier{ID: next}); len(got) != 2 || got[0].Kind != Start || got[1].Kind != Done {
		w.fail("a new trigger after the end: %v", got)
	}
	for id := range next {
		if got := d.Trigger(nil, Barrier{ID: id}); len(got) != 1 || got[0].Kind != Ignored {
			w.fail("trigger %d after the end: %v", id, got)
		}
	}
}
