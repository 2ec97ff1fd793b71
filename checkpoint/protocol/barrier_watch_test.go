package protocol_test

import (
	"fmt"
	"slices"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// barrierWatch is a subtask around a Barriers machine: it has the input channels with
// what is still to come through them, does what the machine asks for, and holds each
// action against what a checkpoint means.
type barrierWatch struct {
	m       *Barriers
	modes   []Mode       // of checkpoint i+1
	gone    []uint8      // by channel: bit i: barrier i+1 is here or lost; the last bit: the end
	told    []uint8      // by channel: barriers that were announced, and so are not lost
	here    []uint8      // by channel: barriers that came, and in order
	blocked []ID         // by channel: the round that blocks it
	capture []uint8      // by checkpoint: channels being captured
	state   []status     // by checkpoint
	aborted uint8        // checkpoints that the coordinator has aborted
	done    ID           // the newest that is done
	queued  bool         // all that is to come is queued here already, and can be promoted
	trail   *barrierStep // how we came here
}

// barrierStep is an event, or an action.
type barrierStep struct {
	before *barrierStep
	verb   string
	id     ID
	ch     int
	action Action
}

func (s *barrierStep) String() string {
	if s == nil {
		return ""
	}
	if s.verb == "" {
		return fmt.Sprintf("%v\n  %s", s.before, scriptAction(s.action))
	}
	return fmt.Sprintf("%v\n%s: id=%d ch=%d", s.before, s.verb, s.id, s.ch)
}

type status uint8

const (
	fresh status = iota
	begun
	started
	done
	dead
)

func newBarrierWatch(channels int, modes []Mode) *barrierWatch {
	return &barrierWatch{
		m: NewBarriers(channels, 0), modes: modes, gone: make([]uint8, channels), told: make([]uint8, channels),
		here: make([]uint8, channels), blocked: make([]ID, channels), capture: make([]uint8, len(modes)), state: make([]status, len(modes)),
	}
}

func (w *barrierWatch) clone() *barrierWatch {
	d := *w
	d.m = w.m.Clone()
	d.gone, d.told, d.here = slices.Clone(w.gone), slices.Clone(w.told), slices.Clone(w.here)
	d.blocked, d.capture, d.state = slices.Clone(w.blocked), slices.Clone(w.capture), slices.Clone(w.state)
	return &d
}

func (w *barrierWatch) fingerprint(b []byte) []byte {
	b = append(append(append(b, w.gone...), w.told...), w.here...)
	for _, id := range w.blocked {
		b = append(b, byte(id))
	}
	b = append(b, w.capture...)
	for _, s := range w.state {
		b = append(b, byte(s))
	}
	return w.m.Fingerprint(append(b, w.aborted, byte(w.done)))
}

func (w *barrierWatch) barrier(id ID) Barrier {
	return Barrier{ID: id, Mode: w.modes[id-1], Triggered: 0, Timeout: 1}
}

func bit[T ~int | ID](i T) uint8 { return 1 << i }

func (w *barrierWatch) ended(ch int) bool { return w.gone[ch]&bit(len(w.modes)) != 0 }

// next is the first barrier that is to come through a channel; ok is false if its end is.
func (w *barrierWatch) next(ch int) (id ID, ok bool) {
	for id = 1; int(id) <= len(w.modes); id++ {
		if w.gone[ch]&bit(id-1) == 0 {
			return id, true
		}
	}
	return 0, false
}

func (w *barrierWatch) waits(id ID, ch int) bool {
	return !w.ended(ch) && w.here[ch]&bit(id-1) == 0
}

func (w *barrierWatch) fail(format string, args ...any) {
	panic(fmt.Sprintf("modes %v: %s\nafter:%v", w.modes, fmt.Sprintf(format, args...), w.trail))
}

// arrive hands a channel's barrier to the machine.
func (w *barrierWatch) arrive(ch int, id ID, overtook bool) {
	w.gone[ch] |= bit(id - 1)
	newer := w.here[ch]>>(id-1) != 0
	if !newer {
		w.here[ch] |= bit(id - 1)
	}
	before := w.state[id-1]
	actions := w.m.Arrive(nil, ch, w.barrier(id), overtook)
	ignored := slices.ContainsFunc(actions, func(a Action) bool { return a.Kind == Ignored })
	switch {
	case newer || before >= done || w.aborted&bit(id-1) != 0:
		if !ignored || len(actions) != 1 && before >= done && newer {
			w.fail("barrier %d of channel %d is late, and not ignored: %v", id, ch, actions)
		}
	case ignored:
		w.fail("barrier %d of channel %d is ignored: %v", id, ch, actions)
	case before == fresh:
		w.state[id-1] = begun
	}
	w.perform(actions)
}

// perform does what the machine asks for, as the subtask does.
func (w *barrierWatch) perform(actions []Action) {
	for _, a := range actions {
		w.trail = &barrierStep{before: w.trail, action: a}
		if a.Kind == Ignored {
			if a.Why == WhyNone || len(actions) > 1 && a.Why != Aborted && a.Why != Stale {
				w.fail("ignored among other actions: %v", actions)
			}
			continue
		}
		if s := w.state[a.ID-1]; s >= done {
			w.fail("%s although it has ended", scriptAction(a))
		}
		w.do(a)
	}
}

func (w *barrierWatch) do(a Action) {
	s, captures := &w.state[a.ID-1], &w.capture[a.ID-1]
	mark := bit(a.Channel)
	switch a.Kind {
	case Start:
		w.start(a)
	case Block:
		if w.blocked[a.Channel] != 0 || w.here[a.Channel]&bit(a.ID-1) == 0 || *s == started {
			w.fail("%s: blocked by %v", scriptAction(a), w.blocked)
		}
		w.blocked[a.Channel] = a.ID
	case Unblock:
		if w.blocked[a.Channel] != a.ID {
			w.fail("%s: blocked by %v", scriptAction(a), w.blocked)
		}
		w.blocked[a.Channel] = 0
	case Capture:
		if *s != started || *captures&mark != 0 {
			w.fail("%s: captures %b", scriptAction(a), *captures)
		}
		*captures |= mark
	case Captured:
		if *captures&mark == 0 || w.waits(a.ID, a.Channel) {
			w.fail("%s: captures %b", scriptAction(a), *captures)
		}
		*captures &^= mark
	case Promote:
		w.promote(a.ID)
	case Done:
		if *s != started || *captures != 0 || a.ID <= w.done {
			w.fail("%s after %d: captures %b, state %d", scriptAction(a), w.done, *captures, *s)
		}
		w.done, *s = a.ID, done
	case Cancelled:
		if a.Why == Superseded && !w.lost(a.ID) {
			w.fail("%s, though all channels deliver it", scriptAction(a))
		}
		*s, *captures = dead, 0
	}
}

func (w *barrierWatch) start(a Action) {
	if w.state[a.ID-1] != begun {
		w.fail("%s in state %d", scriptAction(a), w.state[a.ID-1])
	}
	w.state[a.ID-1] = started
	if a.Barrier != w.barrier(a.ID) {
		w.fail("%s sends on %v", scriptAction(a), a.Barrier)
	}
	for ch := range w.gone {
		if !a.Overtake && w.waits(a.ID, ch) {
			w.fail("%s without the barrier of channel %d", scriptAction(a), ch)
		}
	}
	for id := ID(1); id < a.ID; id++ {
		if w.state[id-1] == begun && w.modes[id-1] != AtLeastOnce && w.m.Knows(id) {
			w.fail("%s before %d", scriptAction(a), id)
		}
	}
	if a.Overtake && w.modes[a.ID-1] == AtLeastOnce {
		w.fail("%s", scriptAction(a))
	}
}

// lost reports whether a barrier was lost upstream of a channel.
func (w *barrierWatch) lost(id ID) bool {
	for ch := range w.gone {
		if w.gone[ch]&bit(id-1) != 0 && w.here[ch]&bit(id-1) == 0 {
			return true
		}
	}
	return false
}

// promote takes the barriers up to that of a checkpoint out of the channels' queues.
func (w *barrierWatch) promote(id ID) {
	for ch := range w.gone {
		if w.queued && !w.ended(ch) {
			w.overtaken(ch, id)
		}
	}
}

// checkPromoted: when all is queued, no round that was turned waits for anything.
func (w *barrierWatch) checkPromoted(before []status) {
	for i, s := range w.state {
		if s != started || before[i] == started || w.modes[i] == Unaligned {
			continue
		}
		for ch := range w.gone {
			if !w.ended(ch) && w.gone[ch]&bit(i) == 0 {
				w.fail("barrier %d of channel %d is queued, and was not promoted", i+1, ch)
			}
		}
	}
}

// check holds the machine against all that is known between two events.
func (w *barrierWatch) check() {
	open := 0
	for i, s := range w.state {
		id := ID(i + 1)
		if s == begun || s == started {
			open++
		}
		if w.m.Knows(id) != (s == begun || s == started) {
			w.fail("%d is known: %v, in state %d", id, w.m.Knows(id), s)
		}
		for ch := range w.gone {
			if w.m.Waits(id, ch) != (w.m.Knows(id) && w.waits(id, ch)) {
				w.fail("%d waits for channel %d: %v", id, ch, w.m.Waits(id, ch))
			}
			w.checkChannel(id, ch, s)
		}
	}
	if w.m.Open() != open || w.m.Remembered() > MaxAborted {
		w.fail("%d rounds are open, not %d; %d are remembered", w.m.Open(), open, w.m.Remembered())
	}
}

// checkChannel: what a channel may deliver meanwhile is what the mode says.
func (w *barrierWatch) checkChannel(id ID, ch int, s status) {
	blocks := s == begun && w.modes[id-1] != AtLeastOnce && w.here[ch]&bit(id-1) != 0 && !w.ended(ch)
	if blocks != (w.blocked[ch] == id) {
		w.fail("channel %d has delivered barrier %d, and is blocked by %d", ch, id, w.blocked[ch])
	}
	captures := s == started && w.waits(id, ch)
	if captures != (w.capture[id-1]&bit(ch) != 0) {
		w.fail("channel %d is captured for %d: %v", ch, id, !captures)
	}
}
