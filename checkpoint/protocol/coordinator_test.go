package protocol_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

func TestCoordinatorArgumentsAreAllChecked(t *testing.T) {
	for _, x := range []struct {
		name string
		o    Options
		a    Attempt
		want []string // in the order of the fields; empty: valid
	}{
		{name: "defaults", a: Attempt{Members: 1, Sources: []Member{0}}},
		{name: "all", o: Options{
			Interval: 1, MinPause: 1, Timeout: 1, MaxConcurrent: 1, TolerableFailures: AnyFailures, Retain: 9, Mode: Auto, AlignmentTimeout: 1, History: 1,
		}, a: Attempt{Members: 2, Sources: []Member{1, 0}, Last: 5, Retained: []ID{3, 5}}},
		{name: "nothing", want: []string{"Members is 0", "no Sources"}},
		{
			name: "everything",
			o: Options{
				Interval: -1, MinPause: -2, Timeout: -3, MaxConcurrent: -4, TolerableFailures: -5, Retain: -6, Mode: 7, AlignmentTimeout: -8, History: -9,
			},
			a: Attempt{Members: 2, Sources: []Member{0, -1, 2, 0}, Last: 5, Retained: []ID{0, 4, 4, 6}},
			want: []string{
				"Interval is -1", "MinPause is -2", "Timeout is -3", "MaxConcurrent is -4", "TolerableFailures is -5", "Retain is -6",
				"Mode is 7", "AlignmentTimeout is -8", "History is -9", "source -1", "source 2", "source 0 is listed twice",
				"lists 0 after 0", "lists 4 after 4", "lists 6 but Last is 5",
			},
		},
		{
			name: "contradiction", o: Options{MinPause: 1, MaxConcurrent: 2}, a: Attempt{Members: 1, Sources: []Member{0}},
			want: []string{"MaxConcurrent is 2 with a MinPause"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := NewCoordinator(x.o, x.a)
			if err == nil {
				err = errors.New("")
			}
			lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })
			if len(lines) != len(x.want) {
				t.Fatalf("got\n%v\nwant %q", err, x.want)
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, "checkpoint: ") || !strings.Contains(line, x.want[i]) {
					t.Errorf("%q does not say %q", line, x.want[i])
				}
			}
		})
	}
}

func TestReasonsAreErrors(t *testing.T) {
	var none Reason
	if none.Err() != nil {
		t.Errorf("no reason is the error %v", none.Err())
	}
	err := Reason{Cause: CauseDeclined, Member: 3, Detail: "disk full"}.Err()
	if !errors.Is(err, CauseDeclined) || errors.Is(err, CauseExpired) {
		t.Errorf("%v: errors.Is does not tell its cause", err)
	}
	if got, want := err.Error(), "checkpoint: a member declined (member 3): disk full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for c := CauseNone; c <= CauseKind; c++ {
		if strings.Contains(c.Error(), "cause ") {
			t.Errorf("cause %d has no text", c)
		}
	}
}

// Times near the end of their range do not overflow into the past.
func TestCoordinatorTimesSaturate(t *testing.T) {
	const end = 1<<63 - 1
	w := newCoordinatorWatch(t.Fatalf, Options{Interval: end, Timeout: end, TolerableFailures: AnyFailures}, Attempt{Members: 2, Sources: []Member{0}})
	w.step(Event{Type: Tick, Now: end - 10})
	w.step(Event{Type: Request, Now: end - 5, Token: 1})
	w.step(Event{Type: Tick, Now: end - 1})
	if n := len(w.c.InFlight(nil)); n != 1 {
		t.Errorf("%d are in flight, want 1", n)
	}
}

func TestCoordinatorRequestsAreBounded(t *testing.T) {
	w := newCoordinatorWatch(t.Fatalf, Options{}, Attempt{Members: 2, Sources: []Member{0}})
	var out []Command
	for token := range Token(MaxRequests + 1) {
		out = w.step(Event{Type: Request, Kind: []Kind{Savepoint, Periodic}[token%2], Token: token + 1})
	}
	if len(out) != 1 || !errors.Is(out[0].Reason, CauseTooMany) {
		t.Errorf("request %d: %+v, want a refusal", MaxRequests+1, out)
	}
	w.drain()
}

// The history keeps the newest, in the order of their ends.
func TestCoordinatorHistoryIsARing(t *testing.T) {
	w := newCoordinatorWatch(t.Fatalf, Options{History: 3}, Attempt{Members: 1, Sources: []Member{0}})
	for id := ID(1); id <= 8; id++ {
		for _, e := range []Event{{Type: Request}, {Type: Ack, ID: id}, {Type: Published, ID: id}} {
			w.step(e)
		}
		history := w.c.History(nil)
		for i, r := range history {
			if want := id - ID(len(history)-1-i); r.ID != want || !r.Complete() {
				t.Errorf("after %d: entry %d is %d, want %d", id, i, r.ID, want)
			}
		}
		if want := min(int(id), 3); len(history) != want {
			t.Errorf("after %d: %d entries, want %d", id, len(history), want)
		}
	}
}

// Members are in bit sets of several words: none is lost at the edges of words.
func TestCoordinatorOfManyMembers(t *testing.T) {
	const members = 200
	var sources []Member
	for m := Member(0); m < members; m += 3 {
		sources = append(sources, m)
	}
	c, err := NewCoordinator(Options{Timeout: 10, TolerableFailures: AnyFailures}, Attempt{Members: members, Sources: sources})
	if err != nil {
		t.Fatal(err)
	}
	c.Step(nil, Event{Type: Finished, Member: 64})
	for round, missing := range []Member{0, 63, 64, 65, 127, 128, 199} {
		now, id := int64(100*round), ID(round+1)
		out := c.Step(nil, Event{Type: Request, Now: now})
		if want := len(sources) + 1; out[0].Type != Trigger || len(out[0].Members) != want || !slices.IsSorted(out[0].Members) {
			t.Fatalf("triggered at %v, want the %d sources and member 64", out[0].Members, want)
		}
		for m := range Member(members) {
			if m != missing && m != (missing+77)%members {
				c.Step(nil, Event{Type: Ack, Now: now, ID: id, Member: m})
			}
		}
		out = c.Step(nil, Event{Type: Tick, Now: now + 10})
		want := Reason{Cause: CauseExpired, Member: min(missing, (missing+77)%members), Missing: 2}
		if out[0].Type != NotifyAborted || out[0].Reason != want {
			t.Errorf("without member %d: %v %v, want %v", missing, out[0].Type, out[0].Reason, want)
		}
	}
}

// The next attempt goes on where the one before has failed: IDs grow, and retention
// drops what that one left.
func TestCoordinatorHandsOverToTheNextAttempt(t *testing.T) {
	a := Attempt{Members: 1, Sources: []Member{0}}
	w := newCoordinatorWatch(t.Fatalf, Options{Retain: 2}, a)
	for id := ID(1); id <= 3; id++ {
		for _, e := range []Event{{Type: Request}, {Type: Ack, ID: id}, {Type: Published, ID: id}} {
			w.step(e)
		}
	}
	w.step(Event{Type: Request})
	w.step(Event{Type: Decline, ID: 4})
	if !w.c.Over() || w.c.Failures() != 1 || w.c.Last() != 4 || !slices.Equal(w.c.Retained(nil), []ID{2, 3}) {
		t.Fatalf("%v, want 2 and 3 retained, last 4, one failure, over", w.c)
	}
	a.Last, a.Retained = w.c.Last(), w.c.Retained(nil)
	w = newCoordinatorWatch(t.Fatalf, Options{Retain: 2}, a)
	w.step(Event{Type: Ack, ID: 4})
	for _, e := range []Event{{Type: Request}, {Type: Ack, ID: 5}, {Type: Published, ID: 5}} {
		w.step(e)
	}
	if !slices.Equal(w.c.Retained(nil), []ID{3, 5}) {
		t.Errorf("%v, want 3 and 5 retained", w.c)
	}
}
