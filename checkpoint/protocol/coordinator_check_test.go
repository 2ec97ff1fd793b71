package protocol_test

import (
	"slices"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// check holds one command to the invariants. before are those of the same step before
// it; counted says that the event was not one to be ignored.
func (w *coordinatorWatch) check(e Event, x Command, before []Command, counted bool) {
	switch x.Type {
	case Trigger:
		w.checkTrigger(e, x, before)
	case Publish:
		w.checkPublish(e, x)
	case NotifyComplete:
		w.checkComplete(e, x, counted)
	case NotifyAborted:
		w.checkAborted(e, x)
	case Drop:
		w.checkDrop(e, x)
	case Discard:
		w.checkDiscard(e, x, counted)
	case Answer:
		w.checkAnswer(e, x)
	case FailJob:
		if w.failures <= w.o.TolerableFailures || w.ids[x.ID].cause != x.Reason.Cause {
			w.fatalf("%+v: the job fails after %d failures, %d are tolerated: %v", e, w.failures, w.o.TolerableFailures, x.Reason)
		}
		w.over = true
	case EndJob:
		if y := w.ids[x.ID]; !y.done || y.cause != CauseNone || !y.kind.Ends() || len(w.flying()) > 0 {
			w.fatalf("%+v: the job ends with %d, in flight %v", e, x.ID, w.flying())
		}
		w.over = true
	case Wake:
		if x.At <= w.now {
			w.fatalf("%+v: a Wake for %d at %d", e, x.At, w.now)
		}
		w.wake = x.At
	default:
		w.fatalf("%+v: command %v", e, x.Type)
	}
}

func watchMask(w *coordinatorWatch, members []Member) (mask uint64) {
	for _, m := range members {
		if mask&(1<<m) != 0 {
			w.fatalf("%v lists %d twice", members, m)
		}
		mask |= 1 << m
	}
	return mask
}

func (w *coordinatorWatch) checkTrigger(e Event, x Command, before []Command) {
	mask := watchMask(w, x.Members)
	b := x.Barrier
	if b.ID != x.ID || b.Stop != (x.Kind == StopSavepoint) || b.Savepoint != x.Kind.Kept() || b.Mode != w.o.Mode {
		w.fatalf("%+v: barrier %+v of %v %d", e, b, x.Kind, x.ID)
	}
	if y, ok := w.ids[x.ID]; ok { // a member that has finished meanwhile
		if y.done || e.Type != Finished || mask != 1<<e.Member || mask&(y.acked|y.direct) != 0 {
			w.fatalf("%+v: %d is triggered again at %v: %+v", e, x.ID, x.Members, y)
		}
		y.direct |= mask
		w.ids[x.ID] = y
		return
	}
	w.mayBegin(e, x, before)
	want := watchMask(w, w.a.Sources)
	for m := range w.finished {
		want |= 1 << m
	}
	if mask != want || b.Triggered != w.now || x.ID != w.last+1 {
		w.fatalf("%+v: %d is triggered at %v at %d, want %b", e, x.ID, x.Members, b.Triggered, want)
	}
	w.last = x.ID
	w.ids[x.ID] = watched{kind: x.Kind, direct: mask}
}

// mayBegin checks that a checkpoint may be triggered as things are.
func (w *coordinatorWatch) mayBegin(e Event, x Command, before []Command) {
	allFinished := len(w.finished) == w.a.Members
	bad := w.over || w.ending
	switch x.Kind {
	case Periodic:
		bad = bad || allFinished || w.flies(StopSavepoint) || len(w.flying()) >= w.o.MaxConcurrent
		bad = bad || w.byHand == 0 && (w.now < w.due || w.now < w.pause)
		w.byHand = 0
		if w.now >= w.due {
			w.restart()
		}
		for _, y := range before {
			bad = bad || y.Type == Trigger && y.Kind == Periodic && y.ID != x.ID && y.ID > w.last
		}
	case Final:
		bad = bad || !allFinished || w.flies(Final) || w.flies(StopSavepoint) || w.now < w.retry
		w.byHand = 0
	case StopSavepoint:
		bad = bad || e.Type != Request || w.flies(StopSavepoint)
	default:
		bad = bad || e.Type != Request || w.flies(StopSavepoint)
	}
	if bad {
		w.fatalf("%+v: %v %d must not begin: due %d, pause %d, in flight %v", e, x.Kind, x.ID, w.due, w.pause, w.flying())
	}
}

func (w *coordinatorWatch) checkPublish(e Event, x Command) {
	y := w.ids[x.ID]
	if y.done || y.acked != w.all() || w.publish != 0 {
		w.fatalf("%+v: publishes %d: %+v, outstanding %d", e, x.ID, y, w.publish)
	}
	for m := range Member(w.a.Members) {
		if x.Payloads[m] != any(watchPayload(x.ID, m)) {
			w.fatalf("%+v: publishes %d with %v of member %d", e, x.ID, x.Payloads[m], m)
		}
	}
	y.published = true
	w.ids[x.ID], w.publish = y, x.ID
}

func (w *coordinatorWatch) checkComplete(e Event, x Command, counted bool) {
	y := w.ids[x.ID]
	if !counted || e.Type != Published || e.ID != x.ID || w.publish != x.ID || y.done || x.ID <= w.completed || x.Kind != y.kind {
		w.fatalf("%+v: %d completes after %d: %+v", e, x.ID, w.completed, y)
	}
	for _, id := range w.flying() {
		if id < x.ID && (w.ids[id].kind != Periodic || x.Kind == Savepoint) {
			w.fatalf("%+v: %d passes %d", e, x.ID, id)
		}
	}
	y.done = true
	w.ids[x.ID], w.publish, w.completed, w.failures = y, 0, x.ID, 0
	w.ended = append(w.ended, x.ID)
	w.pause = w.now + w.o.MinPause
	w.ending = w.ending || y.kind.Ends()
	if !y.kind.Kept() {
		w.newest = x.ID
		w.kept = append(w.kept, x.ID)
	}
}

func (w *coordinatorWatch) checkAborted(e Event, x Command) {
	y := w.ids[x.ID]
	switch {
	case y.done || x.Reason.Cause == CauseNone || x.Kind != y.kind:
		w.fatalf("%+v: %d is aborted: %+v", e, x.ID, y)
	case x.Reason.Cause == CauseSubsumed && (y.kind != Periodic || e.Type != Published || x.ID > e.ID):
		w.fatalf("%+v: %d is subsumed", e, x.ID)
	case x.Reason.Cause == CauseExpired && (y.acked == w.all() || y.acked&(1<<x.Reason.Member) != 0):
		w.fatalf("%+v: %d has expired: %v, %b", e, x.ID, x.Reason, y.acked)
	}
	if x.Reason.Cause == CausePublishExpired && w.publish != x.ID {
		w.fatalf("%+v: %d expires while it waits for its turn", e, x.ID)
	}
	if y.kind == Final {
		w.retry = w.now + max(w.o.MinPause, FinalPause)
	}
	y.done, y.cause = true, x.Reason.Cause
	if w.publish == x.ID {
		w.publish = 0
		y.doubt = x.Reason.Cause != CausePublish
	}
	w.ids[x.ID] = y
	w.ended = append(w.ended, x.ID)
	w.pause = w.now + w.o.MinPause
	counts := x.Reason.Cause == CauseExpired || x.Reason.Cause == CauseDeclined ||
		x.Reason.Cause == CausePublish || x.Reason.Cause == CausePublishExpired
	if counts && !y.kind.Kept() {
		w.failures++
	}
}

func (w *coordinatorWatch) checkDrop(e Event, x Command) {
	i := slices.Index(w.kept, x.ID)
	if i != 0 || x.ID == w.newest || w.ids[x.ID].kind.Kept() || len(w.kept) <= w.o.Retain {
		w.fatalf("%+v: drops %d of %v", e, x.ID, w.kept)
	}
	w.kept = w.kept[1:]
}

func (w *coordinatorWatch) checkDiscard(e Event, x Command, counted bool) {
	y := w.ids[x.ID]
	if !y.done || y.cause == CauseNone {
		w.fatalf("%+v: discards %d: %+v", e, x.ID, y)
	}
	if y.doubt {
		heard := !counted && e.ID == x.ID && (e.Type == PublishFailed || e.Type == Published && !w.over)
		if !heard {
			w.fatalf("%+v: discards %d, which may be visible", e, x.ID)
		}
	}
	if x.Payloads == nil { // of one member, which came late
		if e.Type != Ack || x.Member != e.Member || y.acked == w.all() {
			w.fatalf("%+v: discards %v of %d in %d: %+v", e, x.Payload, x.Member, x.ID, y)
		}
		return
	}
	if y.discarded {
		w.fatalf("%+v: discards %d twice", e, x.ID)
	}
	y.doubt, y.discarded = false, true
	w.ids[x.ID] = y
}

func (w *coordinatorWatch) checkAnswer(e Event, x Command) {
	answered, asked := w.tokens[x.Token]
	if !asked || answered {
		w.fatalf("%+v: answers token %d (asked %v, answered %v)", e, x.Token, asked, answered)
	}
	if y := w.ids[x.ID]; x.Reason.Err() == nil && (!y.done || y.cause != CauseNone) {
		w.fatalf("%+v: token %d is told that %d is complete: %+v", e, x.Token, x.ID, y)
	}
	w.tokens[x.Token] = true
}
