package sim

import (
	"math"
	"slices"
	"time"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// maxSteps bounds an attempt: one that takes more makes no progress.
const maxSteps = 400_000

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// run schedules the attempt until it has ended or failed.
func (a *attempt) run() {
	w := a.w
	crash, request := -1, -1
	if w.crashes > 0 {
		crash = w.rand.IntN(w.plan.crashIn)
	}
	if w.requests > 0 {
		request = w.rand.IntN(w.plan.requestIn)
	}
	a.driver.step(protocol.Event{Type: protocol.Tick})
	var choices []choice
	for step := 0; a.failed == "" && len(w.findings) == 0; step++ {
		if step == crash {
			w.crashes--
			a.failed = "the job was made to fail"
			return
		}
		if step == request {
			a.request()
		}
		var next time.Duration
		choices, next = a.choices(choices[:0])
		switch {
		case len(choices) > 0:
			a.do(choices[w.rand.IntN(len(choices))])
			w.now += w.upTo(w.plan.tick)
			a.starve()
		case a.over():
			return
		case next == never:
			w.fail("nothing can go on: %v", a.state())
		default:
			w.now = next
		}
		if w.steps++; step > maxSteps {
			w.fail("%d steps and no end: %v", step, a.state())
		}
	}
}

// over reports whether the attempt has ended by itself.
func (a *attempt) over() bool {
	return a.driver.machine.Over() && !slices.ContainsFunc(a.subs, func(s *sub) bool { return !s.over })
}

// choice is something that may happen now.
type choice struct {
	kind  choiceKind
	sub   *sub
	write *write
	timer int
}

type choiceKind uint8

const (
	runs    choiceKind = iota // a subtask runs
	writes                    // one of its writes goes on
	told                      // a command arrives
	says                      // what a subtask has said arrives
	elapses                   // a timer
	wakes                     // the coordinator
)

// do lets it happen.
func (a *attempt) do(c choice) {
	d := a.driver
	switch c.kind {
	case runs:
		c.sub.step()
	case writes:
		c.sub.progress(c.write)
	case told:
		d.deliver(c.sub)
	case says:
		d.heard(c.sub.member, d.up[c.sub.member].take())
	case elapses:
		t := a.w.timers[c.timer]
		a.w.timers = slices.Delete(a.w.timers, c.timer, c.timer+1)
		t.call()
	case wakes:
		d.wake = 0
		d.step(protocol.Event{Type: protocol.Tick})
	}
}

// choices appends to list what may happen now, and says when the next thing may.
func (a *attempt) choices(list []choice) (_ []choice, next time.Duration) {
	w := a.w
	next = never
	add := func(at time.Duration, c choice) {
		if at <= w.now {
			list = append(list, c)
		}
		next = min(next, at)
	}
	for _, s := range a.subs {
		if at, ok := s.runnable(w.now); ok {
			add(at, choice{kind: runs, sub: s})
		}
		for _, x := range s.writes {
			add(x.at, choice{kind: writes, sub: s, write: x})
		}
	}
	d := a.driver
	for m, s := range a.subs {
		if q := d.down[m].queue; len(q) > 0 {
			add(q[0].at, choice{kind: told, sub: s})
		}
		if q := d.up[m].queue; len(q) > 0 {
			add(q[0].at, choice{kind: says, sub: s})
		}
	}
	for i := range w.timers {
		add(w.timers[i].at, choice{kind: elapses, timer: i})
	}
	if d.wake > 0 && !d.machine.Over() {
		add(d.wake, choice{kind: wakes})
	}
	return list, next
}

// starve lets a subtask wait, now and then.
func (a *attempt) starve() {
	w := a.w
	if w.plan.starve > 0 && w.rand.IntN(w.plan.starve) == 0 {
		a.subs[w.rand.IntN(len(a.subs))].until = w.now + w.upTo(w.plan.starved)
	}
}

// request asks for a checkpoint by hand.
func (a *attempt) request() {
	a.w.requests--
	a.driver.token++
	kind := protocol.Kind(a.w.rand.IntN(int(protocol.StopSavepoint) + 1))
	a.driver.step(protocol.Event{Type: protocol.Request, Kind: kind, Token: a.driver.token})
}

// state says who waits for what.
func (a *attempt) state() (lines []string) {
	lines = append(lines, "coordinator "+a.driver.machine.String())
	for _, s := range a.subs {
		if !s.over {
			lines = append(lines, s.String()+" "+[]string{"is ready", "awaits input", "awaits output", "is over"}[s.next]+map[bool]string{true: " inside a record"}[s.inside])
		}
	}
	return append(lines, a.arena.Ledger().String())
}
