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

	// Of a query whose rows go to files: by hand, the same files, and what is in them.
	write func(g *Generator, dir string) error
	read  func(dir string, t *Tally) error
}

// Queries are all, by number; what is not one of Nexmark's comes last.
func Queries() []Query {
	list := slices.Concat(stateless(), joins(), auctions(), windows(), sessions(), statistics(), latest(), []Query{logged()})
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

// Find returns the queries with these names, all if there are none.
func Find(names []string) (list []Query, err error) {
	all := Queries()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(q Query) bool { return q.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("nexmark: no query %q: there are %s", name, known(all))
		}
		list = append(list, all[i])
	}
	return list, nil
}

func known(all []Query) string {
	names := make([]string, len(all))
	for i, q := range all {
		names[i] = q.Name
	}
	return strings.Join(names, ", ")
}

// Result is what a job of the query has put out once it has succeeded: what is in its
// files, if it writes any. Anything else in their folder is an error then.
func (q Query) Result(o *Output) (Result, error) {
	if q.read == nil {
		return o.Result(), nil
	}
	return q.readBack(o.Folder, o.Brief)
}

func (q Query) readBack(dir string, brief bool) (Result, error) {
	t := &Tally{brief: brief}
	err := q.read(dir, t)
	return t.sum, err
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
