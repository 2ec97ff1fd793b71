package perfcost

import (
	"context"
	"fmt"

	"github.com/overtake-stream/overtake/bench"
)

// outcomes are those of one side of cases that share their runs.
type outcomes []Outcome

// figure returns a figure of each outcome, one after the other: of those that another case has
// had or, beyond them, of new ones.
func (r *outcomes) figure(of func(Outcome) float64, take func(ctx context.Context, s bench.Size) (Outcome, error)) bench.Measure {
	next := 0
	return func(ctx context.Context, s bench.Size) (float64, error) {
		if next == len(*r) {
			o, err := take(ctx, s)
			if err != nil {
				return 0, err
			}
			*r = append(*r, o)
		}
		next++
		return of((*r)[next-1]), nil
	}
}

// trial is the same work in both programs.
type trial struct {
	programs programs
	why      string // there is no program that it is compared with; empty: there is
	work     func(bench.Size) Work

	with, without outcomes
}

// compared fills in both sides of a case.
func (t *trial) compared(c bench.Case, figure func(Outcome) float64, goal float64) bench.Case {
	side := func(r *outcomes, program string, measured bool) bench.Measure {
		return r.figure(figure, func(ctx context.Context, s bench.Size) (Outcome, error) {
			o, err := t.work(s).in(ctx, program)
			if err == nil && program != "" && o.Measured != measured {
				err = fmt.Errorf("perfcost: the program keeps an account: %v, want %v", o.Measured, measured)
			}
			return o, err
		})
	}
	c.Parameters["own_process"] = t.programs.with != ""
	c.Ours = side(&t.with, t.programs.with, true)
	c.Baselines = []bench.Baseline{{Name: compiledOut, Run: side(&t.without, t.programs.without, false), Skip: t.why}}
	c.Goal = &bench.Goal{Baseline: compiledOut, Ratio: goal}
	return c
}
