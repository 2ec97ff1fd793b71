package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/overtake-stream/overtake/checkpoint"
	"github.com/overtake-stream/overtake/checkpoint/protocol"
)

// epochStart is the Unix time in nanoseconds at which simulations begin.
const epochStart = int64(1_700_000_000_000_000_000)

// world is all that outlives the attempts of a simulated job.
type world struct {
	plan  *Plan
	rand  *rand.Rand
	now   time.Duration
	store *store
	sink  *committed

	timers   []timer
	writing  *write // the coroutine that runs, if it is one
	last     protocol.ID
	retained []protocol.ID
	ordered  bool // the order of channels can be checked
	troubled bool // something has gone wrong in the present attempt
	findings []string

	crashes, faults, requests int // left

	steps, completed, aborted, attempts, restored, replayed int
	overtook, again, blobs, measured                        int
	altered                                                 map[flightID]bool // what was tampered with
	tampered                                                bool              // and restored
}

// flightID names a checkpoint for good: attempts may use the number of one that was not
// completed again.
type flightID struct {
	epoch uint64
	id    checkpoint.ID
}

// timer is what happens at a time.
type timer struct {
	at   time.Duration
	call func()
}

// Now implements perf.Clock.
func (w *world) Now() time.Duration { return w.now }

func (w *world) unix() int64 { return epochStart + int64(w.now) }

func (w *world) upTo(d time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(d) + 1))
}

func (w *world) after(d time.Duration, call func()) {
	w.timers = append(w.timers, timer{w.now + d, call})
}

// trace notes what happens, if the plan wants it.
func (w *world) trace(format string, args ...any) {
	if w.plan.Trace != nil {
		w.plan.Trace(fmt.Sprintf("%10v ", w.now) + fmt.Sprintf(format, args...))
	}
}

func (w *world) fail(format string, args ...any) {
	if len(w.findings) < 10 {
		w.findings = append(w.findings, fmt.Sprintf(format, args...))
	}
}

// Result is what a simulation has come to.
type Result struct {
	Findings []string // what is wrong; none is a success
	Steps, Attempts, Restored, Completed, Aborted,
	Replayed int // runs of records that were in flight
	Again     int  // of these, records that had been so in the attempt before, too
	Overtook  int  // acknowledgements of subtasks whose barriers have overtaken data
	Blobs     int  // that complete checkpoints refer to
	Committed int  // records
	Measured  int  // latency markers that have come to a subtask
	Tampered  bool // a checkpoint was restored that had been tampered with
}

// Run runs a plan.
func Run(p *Plan) Result {
	w := &world{plan: p, rand: rand.New(rand.NewPCG(p.Seed, 2)), ordered: true, altered: map[flightID]bool{}}
	w.store = &store{Store: checkpoint.NewMemory(), w: w}
	w.sink = &committed{w: w, prepared: map[transaction][]rec{}, done: map[transaction]bool{}}
	w.crashes, w.faults, w.requests = p.crashes, p.faults, p.requests
	w.run()
	return Result{
		Findings: w.findings, Steps: w.steps, Attempts: w.attempts, Restored: w.restored, Completed: w.completed,
		Aborted: w.aborted, Replayed: w.replayed, Again: w.again, Overtook: w.overtook, Blobs: w.blobs, Committed: len(w.sink.records), Measured: w.measured, Tampered: w.tampered,
	}
}

func (w *world) run() {
	par := w.plan.graph.parallelism(w.rand, w.plan.limit, nil)
	for !w.attempt(par) {
		if len(w.findings) > 0 {
			return
		}
		if w.plan.scaling && w.rand.IntN(2) == 0 {
			par = w.plan.graph.parallelism(w.rand, w.plan.limit, par)
			w.ordered = false
		}
	}
	if len(w.findings) == 0 {
		w.judge(par)
	}
}

// attempt runs the job once, and reports whether it has ended for good.
func (w *world) attempt(par []int) bool {
	w.timers, w.troubled = nil, false
	a, err := newAttempt(w, par, w.plan.modes[w.attempts%len(w.plan.modes)])
	if w.attempts++; err != nil {
		w.fail("attempt %d: %v", w.attempts, err)
		return true
	}
	a.run()
	a.end()
	return a.failed == "" && a.driver.well && a.driver.ended == protocol.Final
}
