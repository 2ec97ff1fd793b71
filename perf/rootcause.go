package perf

import "fmt"

// What counts as backpressured and busy, as shares of the wall time.
const (
	pressedShare = 0.2 // of the mean of an operator's subtasks
	busyShare    = 0.5 // of its busiest subtask
	skewed       = 2.0 // how much busier than the mean that one is to be worth a word
)

// Cause is where backpressure begins.
type Cause struct {
	Operator string `json:"operator"` // OperatorSnapshot.ID
	Name     string `json:"name"`
	Why      string `json:"why"` // in words, with figures
}

// RootCause names the operator that holds the job up: the most downstream one that is
// busy, or unknown here, while all that send to it wait for output. ok is false, and
// Operator is empty, if there is none; then Why says how things are instead. Apply it to
// what Since returns, to learn of the present and not of the past.
func (s *JobSnapshot) RootCause() (c Cause, ok bool) {
	if !s.Measured {
		return Cause{Why: "nothing is measured: the program was built with the tag noperf"}, false
	}
	loads := map[string]load{}
	pressed := ""
	for i := range s.Operators {
		o := &s.Operators[i]
		l := loadOf(o)
		loads[o.ID] = l
		if l.pressed() && (pressed == "" || s.reaches(pressed, o.ID)) {
			pressed = o.ID // the most downstream one, on one path at least
		}
	}
	for i := range s.Operators {
		o := &s.Operators[i]
		why, is := s.cause(o, loads)
		if is && (!ok || s.reaches(c.Operator, o.ID)) {
			c, ok = Cause{Operator: o.ID, Name: o.Name, Why: why}, true
		}
	}
	switch {
	case ok:
	case pressed == "":
		c.Why = "no operator waits for output for more than " + percent(pressedShare) + " of its time"
	default:
		c.Why = fmt.Sprintf("%q waits for output for %s of its time, but nothing that it sends to is busy: look at credit wait, buffer wait and the network",
			s.Operator(pressed).Name, percent(loads[pressed].backpressured))
	}
	return c, ok
}

// load is what an operator's subtasks here spend their time on.
type load struct {
	known         bool    // there are some, and they have run
	busy          float64 // share of the mean
	busiest       float64 // of the busiest subtask
	which         int     // that one
	backpressured float64 // of the mean
}

func (l load) pressed() bool { return l.known && l.backpressured >= pressedShare }

func loadOf(o *OperatorSnapshot) (l load) {
	wall := 0.0
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		if t.Wall <= 0 {
			continue
		}
		wall += t.Wall
		l.busy += t.Busy
		l.backpressured += t.Backpressured
		if share := t.Busy / t.Wall; share > l.busiest || !l.known {
			l.busiest, l.which = share, t.Index
		}
		l.known = true
	}
	if l.known {
		l.busy /= wall
		l.backpressured /= wall
	}
	return l
}

// cause reports whether an operator holds up what is upstream of it, and why it seems so.
func (s *JobSnapshot) cause(o *OperatorSnapshot, loads map[string]load) (why string, is bool) {
	l := loads[o.ID]
	known, least := false, 1.0
	for i := range s.Edges {
		if e := &s.Edges[i]; e.To == o.ID {
			up := loads[e.From]
			if up.known && !up.pressed() {
				return "", false
			}
			if up.known {
				known, least = true, min(least, up.backpressured)
			}
		}
	}
	switch {
	case !known || l.pressed():
		return "", false
	case len(o.Subtasks) == 0:
		return fmt.Sprintf("what sends to it waits for output for %s of its time; its subtasks are on other workers, so look there", percent(least)), true
	case !l.known || l.busiest < busyShare:
		return "", false
	}
	why = fmt.Sprintf("it is busy for %s of its time and waits for output for %s, while what sends to it waits for at least %s",
		percent(l.busy), percent(l.backpressured), percent(least))
	if l.busiest > skewed*l.busy {
		why += fmt.Sprintf("; subtask %d alone is busy for %s: the load is skewed", l.which, percent(l.busiest))
	}
	return why, true
}

// reaches reports whether there is a way downstream from one operator to another.
func (s *JobSnapshot) reaches(from, to string) bool {
	for i := range s.Edges {
		if e := &s.Edges[i]; e.From == from && (e.To == to || s.reaches(e.To, to)) {
			return true
		}
	}
	return false
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
