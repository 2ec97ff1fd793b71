package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/overtake-stream/overtake/bench"
)

type compareCmd struct {
	Before string  `arg:"" help:"Result of overtake bench --out: a file, or a folder with some." placeholder:"FILE|DIR"`
	After  string  `arg:"" help:"Another one." placeholder:"FILE|DIR"`
	All    bool    `help:"Show what has not moved, too."`
	Alpha  float64 `help:"How likely a difference may be by chance and still count. Three runs against three reach 0.1 at best, five against five 0.008." default:"0.05"`
	Least  float64 `help:"How large a difference must be to count, as a part of what was." default:"0.05"`
}

var errRegression = errors.New("something has become worse")

// Validate is called by kong.
func (c *compareCmd) Validate() error {
	if !(c.Alpha > 0 && c.Alpha < 1) || !(c.Least > 0 && c.Least < 1) {
		return fmt.Errorf("--alpha and --least are above 0 and below 1")
	}
	return nil
}

// Run prints what moved by more than chance.
func (c *compareCmd) Run() error {
	before, err := bySuite(c.Before)
	if err != nil {
		return err
	}
	after, err := bySuite(c.After)
	if err != nil {
		return err
	}
	compared, worse := 0, 0
	for i, suite := range suitesOf(before, after) {
		a, b := before[suite], after[suite]
		if a == nil || b == nil {
			fmt.Printf("%s: only in one of %s and %s\n", suite, c.Before, c.After)
			continue
		}
		if i > 0 {
			fmt.Println()
		}
		result := bench.Compare(a, b, bench.Test{Alpha: c.Alpha, Least: c.Least})
		if err := result.WriteText(os.Stdout, c.All); err != nil {
			return err
		}
		compared += len(result.Rows)
		worse += result.Count(bench.Worse)
	}
	switch {
	case compared == 0:
		return fmt.Errorf("%s and %s have no case in common", c.Before, c.After)
	case worse > 0:
		return errRegression
	}
	return nil
}

// bySuite loads the documents of a path.
func bySuite(path string) (map[string]*bench.Document, error) {
	docs, skipped, err := bench.LoadAll(path)
	if err != nil {
		return nil, err
	}
	for _, s := range skipped {
		fmt.Fprintln(os.Stderr, "skipped:", s)
	}
	suites := map[string]*bench.Document{}
	for _, d := range docs {
		if suites[d.Suite] != nil {
			return nil, fmt.Errorf("%s has two results of suite %s: name one of the files", path, d.Suite)
		}
		suites[d.Suite] = d
	}
	return suites, nil
}

// suitesOf are the names of all suites, in order.
func suitesOf(groups ...map[string]*bench.Document) (names []string) {
	for _, g := range groups {
		for name := range g {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
