package statecow

import (
	"flag"
	"math/rand/v2"
	"testing"
)

// For a long run that can be resumed, print the seed and the rounds that were clean with
//
//	go test -tags invariants -run ModelUnderRandom -v -timeout 0 ./statecow -args -model.ops 10000000 -model.rounds 100
//
// and go on with -model.seed and -model.first. A round that fails is repeated by them, too.
var (
	modelOps    = flag.Int("model.ops", 1_000_000, "operations of a round of the random model test")
	modelRounds = flag.Uint64("model.rounds", 1, "rounds of the random model test, each with maps of its own")
	modelFirst  = flag.Uint64("model.first", 0, "number of the first round")
	modelSeed   = flag.Uint64("model.seed", 0, "seed of the random model test; 0: drawn")
)

// growthEvery is after how many operations the number of keys changes.
const growthEvery = 100_000

func (w *world) run(ops int) {
	for i := range ops {
		if i%growthEvery == 0 {
			w.keys = []int{30_000, 300, 10_000, 3, referenceKeys}[w.rng.IntN(5)]
		}
		w.step()
		r := w.rng.Uint32N(300_000)
		switch {
		case r < 100 && len(w.open) < 5:
			w.snapshot()
		case 100 <= r && r < 160 && len(w.open) > 0:
			w.finish()
		case r == 200, r == 201:
			w.restore(1 + w.rng.IntN(4))
		case r == 202:
			w.recover()
		case 210 <= r && r < 216:
			_, err := w.m.Maintain(100)
			w.must(err)
			w.look()
		}
	}
	for len(w.open) > 0 {
		w.finish()
	}
	w.restore(3)
	w.look()
	w.t.Logf("%d links of chains were left out, since nothing lived in them any more", w.left)
	w.must(w.m.Close())
}

func layouts() map[string]layout {
	return map[string]layout{"variable": {hash: Hash}, "fixed": fixedLayout(8, 8, 8, 8, Hash)}
}

func TestMapEqualsTheModelUnderRandomOperations(t *testing.T) {
	seed := *modelSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	ops := *modelOps / 2 / RaceFactor()
	for round := *modelFirst; round < *modelFirst+*modelRounds; round++ {
		t.Logf("-model.seed %d -model.first %d -model.ops %d", seed, round, *modelOps)
		for name, l := range layouts() {
			t.Run(name, func(t *testing.T) { newWorld(t, l, rand.New(rand.NewPCG(seed, round))).run(ops) })
		}
		if t.Failed() {
			return
		}
		t.Logf("clean: %d operations so far", (round+1-*modelFirst)*2*uint64(ops))
	}
}
