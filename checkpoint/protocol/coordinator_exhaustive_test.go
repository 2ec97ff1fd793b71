package protocol_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	. "github.com/overtake-stream/overtake/checkpoint/protocol"
)

// A coordinatorCase is a set of events that come in every order, and of which any
// may be lost. After each prefix of each order, time passes and everything must end.
type coordinatorCase struct {
	name    string
	options Options
	members int
	prefix  []Event // in this order
	events  []Event // in every order; a Tick passes the timeout
	twice   bool    // each event may come twice
}

var coordinatorAll = flag.Bool("coordinator.all", false, "search the larger cases of the coordinator as well")

const exhaustiveTimeout = 100

func acksOf(members int, ids ...ID) []Event {
	var all []Event
	for _, id := range ids {
		for m := range Member(members) {
			all = append(all, Event{Type: Ack, ID: id, Member: m})
		}
	}
	return all
}

func outcomes(t EventType, ids ...ID) []Event {
	var all []Event
	for _, id := range ids {
		all = append(all, Event{Type: t, ID: id})
	}
	return all
}

func eventsOf(lists ...[]Event) []Event {
	var all []Event
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// twoInFlight asks for two checkpoints of these kinds, with IDs 1 and 2.
func twoInFlight(a, b Kind) []Event {
	return []Event{{Type: Request, Kind: a, Token: 1}, {Type: Request, Kind: b, Token: 2}}
}

func coordinatorCases() []coordinatorCase {
	var cases []coordinatorCase
	two := Options{MaxConcurrent: 2, TolerableFailures: 1}
	strict := Options{MaxConcurrent: 2}
	add := func(name string, o Options, members int, prefix []Event, events ...[]Event) {
		cases = append(cases, coordinatorCase{name: name, options: o, members: members, prefix: prefix, events: eventsOf(events...)})
	}
	for _, a := range []Kind{Periodic, Savepoint} { // behind a StopSavepoint nothing begins: see stop below
		for _, b := range []Kind{Periodic, Savepoint, StopSavepoint} {
			pair := twoInFlight(a, b)
			name := fmt.Sprintf("%v_and_%v", a, b)
			add(name+"/publish", two, 2, pair, acksOf(2, 1, 2), outcomes(Published, 1, 2), outcomes(PublishFailed, 1, 2), []Event{{Type: Tick}})
			add(name+"/strict", strict, 2, pair, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Decline, ID: 1, Member: 1}, {Type: Tick}})
			add(name+"/finish", two, 2, pair, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Finished, Member: 0}, {Type: Finished, Member: 1}})
			add(name+"/failed", two, 2, pair, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Failed}, {Type: Stop}, {Type: PublishFailed, ID: 1}})
			if a == Savepoint && b != StopSavepoint && !*coordinatorAll {
				continue // the large ones, which differ little
			}
			add(name+"/decline", two, 2, pair, acksOf(2, 1, 2), outcomes(Published, 1, 2),
				[]Event{{Type: Decline, ID: 1, Member: 1}, {Type: Decline, ID: 2, Member: 0}, {Type: Tick}, {Type: Tick}})
			add(name+"/three", two, 3, pair, acksOf(3, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Finished, Member: 2}, {Type: Tick}})
			cases = append(cases, coordinatorCase{
				name: name + "/twice", options: two, members: 2, prefix: pair, twice: true,
				events: eventsOf(acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Decline, ID: 2, Member: 1}}),
			})
		}
	}
	finished := []Event{{Type: Finished, Member: 0}, {Type: Finished, Member: 1}}
	add("final/retry", two, 2, nil, finished, acksOf(2, 1, 2), outcomes(Published, 1, 2), outcomes(PublishFailed, 1), []Event{{Type: Tick}})
	add("final/savepoint", two, 2, finished, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Request, Kind: Savepoint, Token: 1}, {Type: Tick}})
	add("final/stop", two, 2, finished, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Request, Kind: StopSavepoint, Token: 1}, {Type: Tick}})
	add("final/periodic", two, 2, twoInFlight(Periodic, Periodic), finished, acksOf(2, 1, 3), outcomes(Published, 1, 3))
	stop := []Event{{Type: Request, Kind: StopSavepoint, Token: 1}}
	add("stop/periodic", Options{Interval: 10, TolerableFailures: 1}, 2, stop,
		finished, acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Tick}, {Type: Decline, ID: 1, Member: 1}})
	add("stop/requests", two, 2, stop, acksOf(2, 1), outcomes(Published, 1), []Event{{Type: Tick},
		{Type: Request, Kind: Periodic, Token: 2}, {Type: Request, Kind: Savepoint, Token: 3}, {Type: Request, Kind: StopSavepoint, Token: 4}})
	add("interval/pause", Options{Interval: 10, MinPause: 30, TolerableFailures: 3, Retain: 2}, 2, []Event{{Type: Tick}},
		acksOf(2, 1, 2), outcomes(Published, 1, 2), []Event{{Type: Tick}, {Type: Tick}, {Type: Tick}})
	return cases
}

func TestCoordinatorExhaustively(t *testing.T) {
	for _, x := range coordinatorCases() {
		t.Run(x.name, func(t *testing.T) {
			x.options.Timeout = exhaustiveTimeout
			s := &coordinatorSearch{t: t, x: x, seen: map[string]bool{}}
			w := newCoordinatorWatch(s.fatalf, x.options, Attempt{Members: x.members, Sources: []Member{0}})
			for _, e := range x.prefix {
				s.path = append(s.path, e)
				w.step(e)
			}
			left := make([]byte, len(x.events))
			for i := range left {
				left[i] = 1
				if x.twice {
					left[i] = 2
				}
			}
			s.visit(w, left)
			t.Logf("%d states", len(s.seen))
		})
	}
}

// A coordinatorSearch goes through all orders, and through states that can behave
// alike only once.
type coordinatorSearch struct {
	t    *testing.T
	x    coordinatorCase
	path []Event
	seen map[string]bool
}

func (s *coordinatorSearch) fatalf(format string, args ...any) {
	s.t.Helper()
	var b strings.Builder
	for _, e := range s.path {
		fmt.Fprintf(&b, "%v id=%d member=%d kind=%v now=%d\n", e.Type, e.ID, e.Member, e.Kind, e.Now)
	}
	s.t.Fatalf("after\n%s%s", b.String(), fmt.Sprintf(format, args...))
}

func (s *coordinatorSearch) visit(w *coordinatorWatch, left []byte) {
	key := string(left) + w.fingerprint()
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	w.clone().drain()
	for i, e := range s.x.events {
		if left[i] == 0 {
			continue
		}
		e.Now = max(w.now, 0)
		if e.Type == Tick {
			e.Now += exhaustiveTimeout
		}
		left[i]--
		s.path = append(s.path, e)
		next := w.clone()
		next.step(e)
		s.visit(next, left)
		s.path = s.path[:len(s.path)-1]
		left[i]++
	}
}
