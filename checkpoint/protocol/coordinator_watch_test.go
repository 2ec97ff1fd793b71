package protocol_test

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// A coordinatorWatch runs a coordinator and holds it to its invariants. It knows the
// events and the commands alone, and keeps books of its own.
type coordinatorWatch struct {
	fatalf func(format string, args ...any)
	c      *Coordinator
	o      Options // with defaults
	a      Attempt
	now    int64

	ids       map[ID]watched
	ended     []ID
	last      ID
	newest    ID // newest complete, of a kind that retention counts
	completed ID // newest complete of any kind
	publish   ID // handed out, no outcome yet
	finished  map[Member]bool
	kept      []ID // by retention
	tokens    map[Token]bool
	lastToken Token
	byHand    int // tokens that may be waiting for a periodic checkpoint
	failures  int
	over      bool
	ending    bool
	due       int64
	pause     int64
	retry     int64 // no final checkpoint before
	wake      int64
	started   bool
}

// watched is a checkpoint. Sets of members are bit masks.
type watched struct {
	kind      Kind
	acked     uint64
	direct    uint64
	published bool // handed to Publish
	done      bool
	cause     Cause // CauseNone if done and complete
	doubt     bool
	discarded bool // as a whole
}

func newCoordinatorWatch(fatalf func(string, ...any), o Options, a Attempt) *coordinatorWatch {
	c, err := NewCoordinator(o, a)
	if err != nil {
		fatalf("%v", err)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	o.MaxConcurrent, o.Retain = max(o.MaxConcurrent, 1), max(o.Retain, 1)
	if o.History == 0 {
		o.History = DefaultHistory
	}
	return &coordinatorWatch{
		fatalf: fatalf, c: c, o: o, a: a, ids: map[ID]watched{}, last: a.Last, finished: map[Member]bool{},
		kept: slices.Clone(a.Retained), tokens: map[Token]bool{}, now: -1 << 63, pause: -1 << 63, retry: -1 << 63,
	}
}

func (w *coordinatorWatch) clone() *coordinatorWatch {
	v := *w
	v.c = w.c.Clone()
	v.ids, v.finished, v.tokens = maps.Clone(w.ids), maps.Clone(w.finished), maps.Clone(w.tokens)
	v.ended, v.kept = slices.Clone(w.ended), slices.Clone(w.kept)
	return &v
}

func (w *coordinatorWatch) fingerprint() string {
	b := w.c.Fingerprint(make([]byte, 0, 256))
	for id := w.a.Last + 1; id <= w.last; id++ {
		x := w.ids[id]
		b = append(b, byte(x.kind), byte(x.acked), byte(x.direct), byte(x.cause), watchBit(x.published)|watchBit(x.done)<<1|watchBit(x.doubt)<<2|watchBit(x.discarded)<<3)
	}
	for _, id := range w.ended {
		b = append(b, byte(id))
	}
	for t := Token(1); t <= w.lastToken; t++ {
		answered, asked := w.tokens[t]
		b = append(b, watchBit(asked)|watchBit(answered)<<1)
	}
	return string(append(b, byte(w.newest), byte(w.publish), byte(w.byHand), byte(w.failures), byte(len(w.kept))))
}

func watchBit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func watchPayload(id ID, m Member) string { return fmt.Sprintf("state of %d in %d", m, id) }

// step gives an event to the coordinator and checks what it commands.
func (w *coordinatorWatch) step(e Event) []Command {
	if e.Type == Ack {
		e.Payload = watchPayload(e.ID, e.Member)
	}
	w.now = max(w.now, e.Now)
	if !w.started {
		w.started = true
		w.restart()
	}
	why := w.whyNot(e)
	wasOver := w.over
	out := w.c.Step(nil, e)
	if why == 0 {
		w.apply(e)
	}
	noted := NoteWhy(0)
	for i, x := range out {
		if x.Type == Note {
			noted = x.Why
			continue
		}
		w.check(e, x, out[:i], why == 0)
		if x.Type == Publish && i < len(out)-1 {
			w.fatalf("%+v: %v after a Publish, which is to be the last", e, out[i+1].Type)
		}
	}
	if noted != why && !(noted == NoteRefused && e.Type == Request && e.Token == 0) {
		w.fatalf("%+v: noted as %v, want %v", e, noted, why)
	}
	if wasOver {
		for _, x := range out {
			if x.Type != Note && x.Type != Discard && x.Type != Answer {
				w.fatalf("%+v: %v after the end", e, x.Type)
			}
		}
	}
	w.settled(e)
	return out
}

// whyNot is the note that an event must get, 0 if it must have an effect.
func (w *coordinatorWatch) whyNot(e Event) NoteWhy {
	switch e.Type {
	case Tick:
		return 0
	case Request:
		if e.Token != 0 && e.Token <= w.lastToken {
			return NoteDuplicate
		}
		return 0
	case Failed, Stop:
		if w.over {
			return NoteLate
		}
		return 0
	case Ack, Decline, Finished:
		if e.Member < 0 || int(e.Member) >= w.a.Members {
			return NoteUnknown
		}
	case Published, PublishFailed:
	default:
		return NoteUnknown
	}
	if e.Type == Finished {
		switch {
		case w.over:
			return NoteLate
		case w.finished[e.Member]:
			return NoteDuplicate
		}
		return 0
	}
	return w.whyNotID(e)
}

func (w *coordinatorWatch) whyNotID(e Event) NoteWhy {
	switch x, ok := w.ids[e.ID]; {
	case e.ID == 0 || e.ID > w.last:
		return NoteUnknown
	case !ok:
		return NoteStale
	case x.done && !slices.Contains(w.ended[max(0, len(w.ended)-w.o.History):], e.ID):
		return NoteStale
	case x.done && x.cause == CauseNone:
		return NoteDuplicate
	case x.done:
		return NoteLate
	case e.Type == Published || e.Type == PublishFailed:
		if w.publish != e.ID {
			return NoteEarly
		}
	case x.acked&(1<<e.Member) != 0:
		return NoteDuplicate
	}
	return 0
}

// apply notes what an event that counts changes in the books.
func (w *coordinatorWatch) apply(e Event) {
	switch e.Type {
	case Request:
		if e.Token != 0 {
			w.lastToken, w.tokens[e.Token] = e.Token, false
		}
		if e.Kind == Periodic {
			w.byHand++
		}
	case Ack:
		x := w.ids[e.ID]
		x.acked |= 1 << e.Member
		w.ids[e.ID] = x
	case Finished:
		w.finished[e.Member] = true
	case Failed, Stop:
		w.over = true
	}
}

// flying lists the checkpoints in flight, by ID.
func (w *coordinatorWatch) flying() []ID {
	var ids []ID
	for id, x := range w.ids {
		if !x.done {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *coordinatorWatch) flies(k Kind) bool {
	return slices.ContainsFunc(w.flying(), func(id ID) bool { return w.ids[id].kind == k })
}

func (w *coordinatorWatch) all() uint64 { return 1<<w.a.Members - 1 }

func (w *coordinatorWatch) restart() {
	w.due = 1<<63 - 1
	if w.o.Interval > 0 && w.now <= w.due-w.o.Interval {
		w.due = w.now + w.o.Interval
	}
}

// settled checks what must hold between events.
func (w *coordinatorWatch) settled(e Event) {
	if w.over != w.c.Over() {
		w.fatalf("%+v: over=%v, want %v", e, w.c.Over(), w.over)
	}
	if w.over {
		if n := len(w.flying()); n > 0 {
			w.fatalf("%+v: it has ended with %d in flight", e, n)
		}
		for t, answered := range w.tokens {
			if !answered {
				w.fatalf("%+v: it has ended and token %d has no answer", e, t)
			}
		}
		return
	}
	if w.failures > w.o.TolerableFailures {
		w.fatalf("%+v: %d failures in a row and the job goes on", e, w.failures)
	}
	if len(w.kept) > max(w.o.Retain, len(w.a.Retained)) || w.newest != 0 && len(w.kept) > w.o.Retain {
		w.fatalf("%+v: %v are kept, want %d", e, w.kept, w.o.Retain)
	}
	flying := w.flying()
	if w.now >= w.due && w.now >= w.pause && len(flying) < w.o.MaxConcurrent && !w.flies(StopSavepoint) &&
		len(w.finished) < w.a.Members && !w.ending {
		w.fatalf("%+v: a periodic checkpoint is due since %d and not triggered", e, w.due)
	}
	w.noneHeldUp(e, flying)
	if len(flying) > 0 && w.wake <= w.now && w.o.Timeout < 1<<60 {
		w.fatalf("%+v: %v are in flight and no Wake is set", e, flying)
	}
	if w.ending && len(flying) == 0 {
		w.fatalf("%+v: the last checkpoint is complete and the job does not end", e)
	}
}

// noneHeldUp checks that a checkpoint is being published if one may be.
func (w *coordinatorWatch) noneHeldUp(e Event, flying []ID) {
	for i, id := range flying {
		x := w.ids[id]
		if x.acked == w.all() && w.publish == 0 && (i == 0 || x.kind != Savepoint) {
			w.fatalf("%+v: %d is complete and has its turn, and is not published", e, id)
		}
		if x.kind != Periodic {
			return
		}
	}
}

// drain lets time pass, with the Ticks that were asked for and nothing else: whatever
// is in flight must end. Those that are published one after the other have a timeout
// each, from their turn on.
func (w *coordinatorWatch) drain() {
	before := w.flying()
	end := w.now + int64(1+len(before))*w.o.Timeout
	for !w.over && w.wake > w.now && w.wake <= end {
		w.step(Event{Type: Tick, Now: w.wake})
	}
	for _, id := range before {
		if !w.ids[id].done {
			w.fatalf("%d has not ended long after its timeout", id)
		}
	}
	w.step(Event{Type: Stop, Now: w.now})
}
