package sim

import (
	"math/rand/v2"
	"time"

	"github.com/overtake-stream/overtake/checkpoint/protocol"
	"github.com/overtake-stream/overtake/operators"
)

// Plan is what a seed decides beforehand. The rest is drawn on the way.
type Plan struct {
	Seed  uint64
	Trace func(line string) // told what happens; may be nil

	graph   *graph
	final   bool // count once per key, at the end
	windows bool // the same for each window
	shape   shape
	keys    int
	pad     int // bytes in the state of each key
	retain  int // checkpoints
	groups  int // key groups
	maxFill int
	large   bool // all records are as large as that
	limit   int  // of the parallelism
	scaling bool
	modes   []protocol.Mode
	exactly bool // no mode is at-least-once

	segment   int
	extra     int // buffers beyond the least
	exclusive int // of gates; <0: none
	floating  int
	overdraft int
	maxQueued int
	flush     time.Duration

	interval   time.Duration
	concurrent int
	timeout    time.Duration // of checkpoints, as long as there are failures to come; 0: none
	overtake   time.Duration // AlignmentTimeout
	markers    time.Duration // between a source's latency markers; 0: none. Then each subtask has a clock of its own

	tick    time.Duration // most time that a step takes
	delay   time.Duration // most time that a message takes
	slow    time.Duration // most time between two operations of the store
	starve  int           // one step in so many starves a subtask; 0: none
	starved time.Duration // for so long at most
	idle    int           // one read in so many finds nothing

	crashes   int // at most
	crashIn   int // steps, at most
	faults    int // of the store, at most
	faultIn   int // one operation in so many fails
	requests  int // savepoints and the like, at most
	requestIn int // steps, at most
	tamper    tamper

	operator func(s *sub, next operators.Collector[rec]) operators.Transform[rec] // of mappers; nil: none of its own
	may      func(n *node, records int) bool                                      // whether a source may read one more, or with 0, end; nil: yes
}

// NewPlan draws a plan. scale is about how many records a split has.
func NewPlan(seed uint64, scale int) *Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	of := func(list ...int) int { return list[r.IntN(len(list))] }
	p := &Plan{
		Seed: seed, graph: newGraph(r, scale), final: r.IntN(2) == 0,
		keys: of(1, 3, 17, 60), pad: of(0, 100, 3000), retain: of(1, 1, 3), groups: of(4, 7, 32), maxFill: of(0, 0, 100, 900, 3000),
		limit: of(1, 2, 3, 4), scaling: r.IntN(2) == 0,
		segment: of(256, 512, 4096), extra: of(0, 0, 3, 100), exclusive: of(-1, 1, 2), floating: of(1, 1, 8),
		overdraft: of(1, 5), maxQueued: of(1, 2, 10), flush: time.Duration(of(-1, 10_000, 1_000_000)),
		interval: time.Duration(of(50_000, 500_000, 2_000_000)), concurrent: of(1, 2, 4),
		timeout: time.Duration(of(3_000_000, 50_000_000, 0, 0)), overtake: time.Duration(of(1, 300_000, 2_000_000)),
		tick: time.Duration(of(1_000, 50_000, 300_000)), delay: time.Duration(of(1, 100_000, 3_000_000)), slow: time.Duration(of(1, 100_000, 3_000_000)),
		starve: of(0, 0, 20, 200), starved: time.Duration(of(1_000_000, 20_000_000)), idle: of(0, 0, 3),
		crashes: of(0, 1, 3), crashIn: of(50, 300, 1000), faults: of(0, 0, 3), faultIn: of(2, 10),
		requests: of(0, 0, 2), requestIn: of(50, 300),
	}
	p.groups = max(p.groups, p.limit)
	p.markers = []time.Duration{0, 20_000, 500_000, 5_000_000}[mix(seed+1)%4]
	p.windows = p.final && r.IntN(2) == 0
	p.drawModes(r)
	p.drawShape(seed)
	return p
}

func (p *Plan) drawModes(r *rand.Rand) {
	p.modes, p.exactly = nil, true
	m := protocol.Mode(r.IntN(int(protocol.Auto) + 1))
	for range 8 {
		p.modes = append(p.modes, m)
		p.exactly = p.exactly && m != protocol.AtLeastOnce
		if next := protocol.Mode(r.IntN(int(protocol.Auto) + 1)); r.IntN(3) == 0 && (next == protocol.AtLeastOnce) == (m == protocol.AtLeastOnce) {
			m = next
		}
	}
}
