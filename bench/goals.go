package bench

import (
	"fmt"
	"io"
	"strings"
)

// GoalLine is a goal of a document, and what became of it.
type GoalLine struct {
	Suite, Case string
	GoalResult
	Better string
	Ours   Summary // the ratio to the baseline
}

// Goals are those of some documents, in order.
func Goals(docs []*Document) (list []GoalLine) {
	for _, d := range docs {
		for _, r := range d.Cases {
			if r.Goal == nil {
				continue
			}
			line := GoalLine{Suite: d.Suite, Case: r.Name, GoalResult: *r.Goal, Better: r.Better}
			for _, b := range r.Baselines {
				if b.Name == r.Goal.Baseline {
					line.Ours = b.Ratio
				}
			}
			list = append(list, line)
		}
	}
	return list
}

// Sign is how the ratio is to compare with the goal.
func (g GoalLine) Sign() string {
	if g.Better == Lower {
		return "<="
	}
	return ">="
}

// WriteGoals writes how many goals were met, and which were missed.
func WriteGoals(w io.Writer, docs []*Document) error {
	var missed strings.Builder
	met, all := 0, Goals(docs)
	for _, g := range all {
		if g.Met {
			met++
			continue
		}
		fmt.Fprintf(&missed, "  missed  %-26s %-44s x%.3f (%.3f to %.3f) of %s, goal %s %.3f\n",
			g.Suite, g.Case, g.Ours.Median, g.Ours.Min, g.Ours.Max, g.Baseline, g.Sign(), g.Ratio)
	}
	_, err := fmt.Fprintf(w, "goals: %d met, %d missed\n%s", met, len(all)-met, missed.String())
	return err
}
