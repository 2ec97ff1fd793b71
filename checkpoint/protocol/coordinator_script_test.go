package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// TestCoordinatorScripts runs testdata/coordinator. Times are in milliseconds; "at" is
// optional and sticks. Every step is also held to the invariants.
//
//	new members=3 sources=(0,1) last=7 retained=(6,7) interval=1000 min-pause=0 timeout=5000
//	    concurrent=1 tolerable=0 retain=1 mode=auto alignment=100 history=64
//	tick at=1000
//	request kind=savepoint token=1
//	ack id=8 from=(0,1,2)
//	decline id=8 from=1 detail=words
//	published id=8 | publish-failed id=8 detail=words
//	finished from=(0,1)
//	failed detail=words | stop detail=words
//	quiet                      time passes until nothing is in flight, then stop
//	history | flying
func TestCoordinatorScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/coordinator", func(t *testing.T, path string) {
		s := &coordinatorScript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

const scriptMS = int64(1e6)

type coordinatorScript struct {
	w   *coordinatorWatch
	now int64
	out strings.Builder
}

func (s *coordinatorScript) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "new":
		return s.create(t, d)
	case "history":
		for _, r := range s.w.c.History(nil) {
			s.say("%d %v %v: triggered=%d ended=%d acks=%d/%d", r.ID, r.Kind, r.Mode, r.Triggered/scriptMS, r.Ended/scriptMS, r.Acks, r.Members)
			if r.Acks > 0 {
				s.say("  first=%d last=%d slowest=%d", r.FirstAck/scriptMS, r.LastAck/scriptMS, r.Slowest)
			}
			if !r.Complete() {
				s.say("  %v", r.Reason)
			}
		}
		return s.out.String()
	case "flying":
		for _, p := range s.w.c.InFlight(nil) {
			s.say("%d %v: triggered=%d acks=%d/%d missing=%d publishing=%v", p.ID, p.Kind, p.Triggered/scriptMS, p.Acks, p.Members, p.Missing, p.Publishing)
		}
		return s.out.String()
	case "quiet":
		s.w.drain()
		s.say("%v", s.w.c)
		return s.out.String()
	}
	s.events(t, d)
	s.say("%v", s.w.c)
	return s.out.String()
}

func (s *coordinatorScript) say(format string, args ...any) {
	fmt.Fprintf(&s.out, format+"\n", args...)
}

func scriptArg[T any](t *testing.T, d *datadriven.TestData, key string, or T) T {
	if d.HasArg(key) {
		d.ScanArgs(t, key, &or)
	}
	return or
}

func scriptList[T ~int | ~uint64](t *testing.T, d *datadriven.TestData, key string) []T {
	var list []T
	if arg, ok := d.Arg(key); ok {
		for i := range arg.Vals {
			var n int
			arg.Scan(t, i, &n)
			list = append(list, T(n))
		}
	}
	return list
}

func (s *coordinatorScript) create(t *testing.T, d *datadriven.TestData) string {
	ms := func(key string) int64 { return scriptArg(t, d, key, int64(0)) * scriptMS }
	mode, ok := ParseMode(scriptArg(t, d, "mode", "aligned"))
	if !ok {
		t.Fatalf("%s: unknown mode", d.Pos)
	}
	o := Options{
		Interval: ms("interval"), MinPause: ms("min-pause"), Timeout: ms("timeout"), Mode: mode, AlignmentTimeout: ms("alignment"),
		MaxConcurrent: scriptArg(t, d, "concurrent", 0), TolerableFailures: scriptArg(t, d, "tolerable", 0),
		Retain: scriptArg(t, d, "retain", 0), History: scriptArg(t, d, "history", 0),
	}
	a := Attempt{
		Members: scriptArg(t, d, "members", 2), Sources: scriptList[Member](t, d, "sources"),
		Last: ID(scriptArg(t, d, "last", 0)), Retained: scriptList[ID](t, d, "retained"),
	}
	if !d.HasArg("sources") {
		a.Sources = []Member{0}
	}
	s.now = 0
	s.w = newCoordinatorWatch(t.Fatalf, o, a)
	return s.w.c.String() + "\n"
}

func (s *coordinatorScript) events(t *testing.T, d *datadriven.TestData) {
	s.now = scriptArg(t, d, "at", s.now)
	e := Event{Now: s.now * scriptMS, ID: ID(scriptArg(t, d, "id", 0)), Detail: scriptArg(t, d, "detail", "")}
	e.Token = Token(scriptArg(t, d, "token", 0))
	found := false
	for e.Type = Tick; e.Type <= Stop && !found; e.Type++ {
		found = e.Type.String() == d.Cmd
	}
	e.Type--
	if !found && d.Cmd != "nonsense" {
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	}
	if !found {
		e.Type = 200
	}
	kind := scriptArg(t, d, "kind", "periodic")
	for e.Kind = Periodic; e.Kind < Final && e.Kind.String() != kind; e.Kind++ {
	}
	from := scriptList[Member](t, d, "from")
	if len(from) == 0 {
		from = []Member{0}
	}
	for _, e.Member = range from {
		for _, x := range s.w.step(e) {
			s.say("%s", scriptCommand(x))
		}
	}
}

// scriptCommand is a command on one line, with the fields that count.
func scriptCommand(x Command) string {
	about := fmt.Sprintf("%v %d", x.Type, x.ID)
	switch x.Type {
	case Trigger:
		b := x.Barrier
		return fmt.Sprintf("%s %v to %v: %v triggered=%d timeout=%d stop=%v savepoint=%v",
			about, x.Kind, x.Members, b.Mode, b.Triggered/scriptMS, b.Timeout/scriptMS, b.Stop, b.Savepoint)
	case Publish:
		return fmt.Sprintf("%s %v %q", about, x.Kind, x.Payloads)
	case NotifyComplete, EndJob:
		return fmt.Sprintf("%s %v", about, x.Kind)
	case NotifyAborted, FailJob:
		return fmt.Sprintf("%s %v: %v", about, x.Kind, x.Reason)
	case Discard:
		if x.Payloads == nil {
			return fmt.Sprintf("%s late: %q of %d", about, x.Payload, x.Member)
		}
		return fmt.Sprintf("%s %q", about, x.Payloads)
	case Answer:
		if err := x.Reason.Err(); err != nil {
			return fmt.Sprintf("answer token %d: %d %v: %v", x.Token, x.ID, x.Kind, err)
		}
		return fmt.Sprintf("answer token %d: %d %v", x.Token, x.ID, x.Kind)
	case Wake:
		return fmt.Sprintf("wake at %d", x.At/scriptMS)
	case Note:
		return fmt.Sprintf("note: %v id=%d member=%d token=%d is %v", x.Event, x.ID, x.Member, x.Token, x.Why)
	}
	return about
}
