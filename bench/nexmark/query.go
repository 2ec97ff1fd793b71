package nexmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
)

// Query is one of Nexmark's.
type Query struct {
	Name    string
	About   string   // what it computes
	Columns []string // of its table, in the order of their hashing

	build func(p *plan)
	// loop computes the table by hand: one goroutine, the builtin map, no engine.
	loop func(g *Generator, t *Tally)
}

// Missing is a query that is not there.
type Missing struct{ Name, Why string }

// Queries are those that there are, by number; what is not one of Nexmark's comes last.
func Queries() []Query {
	list := slices.Concat(stateless(), joins(), auctions(), windows(), sessions(), statistics(), latest())
	slices.SortFunc(list, func(a, b Query) int { return cmp.Compare(number(a.Name), number(b.Name)) })
	return list
}

func number(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "q"))
	if err != nil {
		return math.MaxInt
	}
	return n
}

// MissingQueries are the others, and why.
func MissingQueries() []Missing {
	return []Missing{
		{"q10", "needs a sink that partitions its files by a record's time"},
	}
}

// Find returns the queries with these names, all if there are none.
func Find(names []string) (list []Query, err error) {
	all := Queries()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		q, why := find(all, name)
		if q == nil {
			return nil, fmt.Errorf("nexmark: no query %q%s", name, why)
		}
		list = append(list, *q)
	}
	return list, nil
}

func find(all []Query, name string) (q *Query, why string) {
	var known []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], ""
		}
		known = append(known, all[i].Name)
	}
	for _, m := range MissingQueries() {
		if m.Name == name {
			return nil, ": it " + m.Why
		}
	}
	return nil, ": there are " + strings.Join(known, ", ")
}

// Loop computes the query's table by hand: what the engine is compared with. In brief, the
// hash has the lengths of texts only.
func (q Query) Loop(g *Generator, brief bool) Result {
	t := &Tally{brief: brief}
	q.loop(g, t)
	return t.sum
}

// Rows passes the query's table to f as lines of tab-separated fields, in no particular
// order. It lends them.
func (q Query) Rows(g *Generator, f func(line []byte)) Result {
	t := &Tally{rows: f}
	q.loop(g, t)
	return t.sum
}

// each calls f with every event, in order.
func (g *Generator) each(f func(e *Event)) {
	var e Event
	for n := range g.opts.Events {
		g.Event(n, &e)
		f(&e)
	}
}

// eachBid calls f with every bid, in order.
func (g *Generator) eachBid(f func(b *Bid)) {
	g.each(func(e *Event) {
		if e.Kind == BidKind {
			f(&e.Bid)
		}
	})
}

// plan is a query's job while it is built.
type plan struct {
	gen    *Generator
	events overtake.Stream[*Event]
	out    *Output

	pressure pressure.Config
}

// timed are the events with watermarks.
func (p *plan) timed() overtake.Stream[*Event] {
	return overtake.AssignTimes(p.events, nil, time.Duration(p.gen.Lag())*time.Millisecond)
}

// bidsOf are the bids among events.
func bidsOf(events overtake.Stream[*Event]) overtake.Stream[*Bid] {
	return overtake.FlatMap(events, func(e *Event, out overtake.Collector[*Bid]) {
		if e.Kind == BidKind {
			out.Collect(&e.Bid)
		}
	}, overtake.WithName("bids"))
}

// emit makes a stream of rows the query's result.
func emit[R any](p *plan, s overtake.Stream[R], f fold[R]) {
	overtake.To(pressure.Before(p.pressure, s), sink[R]{p.out, func(t *Tally, row R) { addRow(t, f, row) }}, overtake.WithUID("result"))
}

// emitChanges makes the table that changes lead to the query's result.
func emitChanges[R any](p *plan, s overtake.Stream[change[R]], f fold[R]) {
	overtake.To(pressure.Before(p.pressure, s), sink[change[R]]{p.out, func(t *Tally, c change[R]) { addChange(t, f, c) }}, overtake.WithUID("result"))
}

func uid(name string) []overtake.OpOption {
	return []overtake.OpOption{overtake.WithUID(name), overtake.WithName(name)}
}

const (
	day    = 24 * 60 * 60 * 1000 // milliseconds
	window = 10 * time.Second
	slide  = 2 * time.Second
)
