package sim

import (
	"flag"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag  = flag.Uint64("sim.seed", 0, "run this seed alone")
	traceFlag = flag.Bool("sim.trace", false, "tell what happens with it")
	seedsFlag = flag.Int("sim.seeds", 100, "how many seeds to run")
	fromFlag  = flag.Uint64("sim.from", 1, "the first of them")
	procsFlag = flag.Int("sim.procs", 0, "how many of them to run at a time; 0: one on each processor")
	scaleFlag = flag.Int("sim.scale", 30, "about how many records a split has")
)

// TestSim runs jobs by seed and compares their output with what it has to be.
func TestSim(t *testing.T) {
	if *seedFlag != 0 {
		p := NewPlan(*seedFlag, *scaleFlag)
		if *traceFlag {
			p.describe(t)
			p.Trace = func(line string) { t.Log(line) }
		}
		r := Run(p)
		t.Logf("%+v", r)
		for _, f := range r.Findings {
			t.Error(f)
		}
		return
	}
	began := time.Now()
	sum := runSeeds(t, *seedsFlag)
	t.Logf("%.0f seeds a second; in all %+v", float64(*seedsFlag)/time.Since(began).Seconds(), sum)
}

// Jobs that have failed for a reason that few others would find.
func TestSeedsThatHaveFailed(t *testing.T) {
	for _, seed := range []uint64{
		5952, // three checkpoints open at a time held more state than there was room for
		7094, // what was left of channels of another parallelism came behind later watermarks
		8694, // a source told event time before its reader had begun all splits
	} {
		for _, f := range Run(NewPlan(seed, 30)).Findings {
			t.Errorf("seed %d: %s", seed, f)
		}
	}
}

// runSeeds runs n seeds on all processors and reports those that fail. Jobs are small and
// leave much behind, so it lets the collector wait for more than is its custom.
func runSeeds(t *testing.T, n int) (sum Result) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	procs := *procsFlag
	if procs == 0 {
		procs = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	var mu sync.Mutex // of what follows, and sum
	next, failed := 0, 0
	for range procs {
		all.Go(func() {
			for {
				mu.Lock()
				seed := *fromFlag + uint64(next)
				more := next < n && failed < 20
				next++
				mu.Unlock()
				if !more {
					return
				}
				r := Run(NewPlan(seed, *scaleFlag))
				mu.Lock()
				sum.add(r)
				if len(r.Findings) > 0 {
					failed++
					t.Errorf("go test ./internal/sim -run 'TestSim$' -sim.scale=%d -sim.seed=%d # %s", *scaleFlag, seed, r.Findings[0])
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return sum
}

func (sum *Result) add(r Result) {
	sum.Steps += r.Steps
	sum.Attempts += r.Attempts
	sum.Restored += r.Restored
	sum.Completed += r.Completed
	sum.Aborted += r.Aborted
	sum.Replayed += r.Replayed
	sum.Again += r.Again
	sum.Overtook += r.Overtook
	sum.Blobs += r.Blobs
	sum.Committed += r.Committed
	sum.Measured += r.Measured
}

func (p *Plan) describe(t *testing.T) {
	for _, n := range p.graph.nodes {
		t.Logf("%s kind %d lengths %v fixed %v", n.uid, n.kind, n.lengths, n.fixed)
	}
	for _, e := range p.graph.edges {
		t.Logf("%s pattern %d", e.key(), e.pattern)
	}
	q := *p
	q.graph, q.Trace = nil, nil
	t.Logf("%+v", q)
}
