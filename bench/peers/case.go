package peers

import (
	"context"
	"maps"
	"slices"
	"strconv"
)

// Case is something that both sides do, and what is compared of it.
type Case struct {
	Name   string // unique within the peer
	Theirs string // the NAME that the peer's program knows it under; default Name
	// Params are handed to both sides.
	Params Params
	// Shared gives the case a folder, which Prepare may fill and both sides find as the
	// parameter "folder". It is deleted after the last pair.
	Shared bool
	// Prepare, if set, finds parameters that depend on the machine, before the first pair:
	// it returns those for both sides. run runs the peer's program once. It is not called
	// when the peer is skipped.
	Prepare func(ctx context.Context, p Params, run func(name string, p Params) ([]Line, error)) (Params, error)
	// Ours does our side, in a process of its own.
	Ours Ours
	// Figures are compared, in this order. "rss" is added to them.
	Figures []Figure
}

// Ours measures our side of a case and hands each figure to out.
type Ours func(ctx context.Context, p Params, out func(Line)) error

// Figure is one metric of a case: a row of the result.
type Figure struct {
	Metric string  // as in Line.Metric
	Unit   string  // base unit, as in Line.Unit
	Better string  // bench.Higher or bench.Lower
	Goal   float64 // ratio to reach, ours to theirs; 0: none
	Check  bool    // both sides must print the same Line.Check, and some
}

// Params are the parameters of a case.
type Params map[string]string

// args are the parameters as arguments of a program, in order.
func (p Params) args() (list []string) {
	for _, k := range slices.Sorted(maps.Keys(p)) {
		list = append(list, k+"="+p[k])
	}
	return list
}

// Int is a whole number among the parameters, 0 if there is none.
func (p Params) Int(key string) int64 {
	n, err := strconv.ParseInt(p[key], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// with is the parameters and some more, given as key, value, key, value …
func (p Params) with(more ...string) Params {
	p = maps.Clone(p)
	for i := 0; i+1 < len(more); i += 2 {
		p[more[i]] = more[i+1]
	}
	return p
}
