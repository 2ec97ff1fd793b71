package netstack_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/overtake-stream/overtake/bufferpool"
	"github.com/overtake-stream/overtake/netstack"
	"github.com/overtake-stream/overtake/netstack/record"
)

// shares keeps what a Passing is told. It reads the buffers late: lines and release.
type shares struct {
	t     testing.TB
	items []sharedItem
}

type sharedItem struct {
	sub     int
	buf     bufferpool.Buffer
	partial bool
	event   *netstack.Event
}

// passing tells s, and stops at events of kind 100 and above.
func (s *shares) passing() netstack.Passing {
	return netstack.Passing{
		Stop: stops,
		Share: func(sub int, buf bufferpool.Buffer, partial bool) {
			s.items = append(s.items, sharedItem{sub: sub, buf: buf, partial: partial})
		},
		Event: func(sub int, e *netstack.Event) { s.items = append(s.items, sharedItem{sub: sub, event: e}) },
	}
}

func stops(e *netstack.Event) bool { return e.Kind >= netstack.FirstUserEvent+100 }

// lines says what was told like transcript: "0:5" is record 5 of subpartition 0.
func (s *shares) lines() (lines []string) {
	for _, it := range s.items {
		lines = append(lines, itemLines(s.t, it.sub, it.buf, it.event)...)
	}
	return lines
}

func (s *shares) release() {
	for _, it := range s.items {
		if it.event == nil {
			it.buf.Release()
		}
	}
	s.items = nil
}

// want checks the lines and releases everything.
func (s *shares) want(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		s.t.Fatalf("what was passed (-want +got):\n%s", diff)
	}
	s.release()
}

func itemLines(t testing.TB, ch int, buf bufferpool.Buffer, e *netstack.Event) (lines []string) {
	if e != nil {
		return []string{fmt.Sprintf("%d:e%d", ch, e.Kind-netstack.FirstUserEvent)}
	}
	var rec record.Record
	for i := record.Over(buf.Payload()); ; {
		ok, err := i.Next(&rec)
		must(t, err)
		if !ok {
			return lines
		}
		lines = append(lines, fmt.Sprintf("%d:%d", ch, number(t, &rec)))
	}
}

// queued says what is in a channel's queue, the first n items.
func queued(t testing.TB, g *netstack.Gate, ch, n int) (lines []string) {
	g.EachQueued(ch, n, func(buf bufferpool.Buffer, _ bool, e *netstack.Event) {
		lines = append(lines, itemLines(t, ch, buf, e)...)
	})
	return lines
}

// wantOvertaken reads a priority event, and checks what it overtook at the gate.
func wantOvertaken(t testing.TB, g *netstack.Gate, event string, want ...string) {
	t.Helper()
	it, ok := g.Next()
	if !ok || it.Event == nil || !it.Event.Priority {
		t.Fatalf("%+v, %v came, want %s", it, ok, event)
	}
	got := fmt.Sprintf("%d:p%d", it.Channel, it.Event.Kind-netstack.FirstUserEvent)
	if lines := queued(t, g, it.Channel, it.Overtaken); got != event || !slices.Equal(lines, want) {
		t.Fatalf("%s overtook %q, want %s and %q", got, lines, event, want)
	}
}

// ofKind matches events as event makes them.
func ofKind(kind int) func(*netstack.Event) bool {
	return func(e *netstack.Event) bool { return e.Kind == netstack.FirstUserEvent+netstack.EventKind(kind) }
}

// urgently makes of an event one of the same kind with priority.
func urgently(_ int, e *netstack.Event) *netstack.Event {
	return &netstack.Event{Kind: e.Kind, Priority: true, Payload: e.Payload}
}
