package statecow_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

// overlapping updates random keys of n with keep snapshots open all the time, count
// in all, and returns the most memory in use.
func overlapping(t *testing.T, o statecow.Options, n uint64, keep, count, updates int) (peak int64) {
	t.Helper()
	tm, err := statecow.NewTyped[uint64, uint64](o, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := tm.Map()
	rng := rand.New(rand.NewPCG(1, 2))
	sum := uint64(0) // of all values
	add := func(k uint64) {
		v, _, err := tm.Upsert(k)
		if err != nil {
			t.Fatalf("%v; %+v", err, m.Stats())
		}
		*v++
		sum++
	}
	for k := range n {
		add(k)
	}
	type shot struct {
		statecow.Snapshot
		sum uint64
	}
	var open []shot
	release := func() {
		s := open[0]
		open = append(open[:0], open[1:]...)
		if got := total(t, s.Snapshot, n); got != s.sum {
			t.Fatalf("a snapshot's values add up to %d, want %d", got, s.sum)
		}
		s.Release()
		m.Abandon(s.Mark())
	}
	for range count {
		s, _ := m.Snapshot()
		open = append(open, shot{s, sum})
		if len(open) > max(keep, 1) {
			release()
		}
		for range updates {
			add(rng.Uint64N(n))
		}
		if keep == 0 {
			release()
		}
		peak = max(peak, m.Stats().MemoryBytes)
	}
	t.Logf("keep %d: peak %.1f B/key", keep, float64(peak)/float64(n))
	for len(open) > 0 {
		release()
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return peak
}

// total adds up the values of a snapshot of n keys.
func total(t *testing.T, s statecow.Snapshot, n uint64) (sum uint64) {
	t.Helper()
	entries := uint64(0)
	err := s.Entries(0, func(e statecow.Entry) error {
		entries++
		for i, b := range e.Value {
			sum += uint64(b) << (8 * i)
		}
		return nil
	})
	if err != nil || entries != n {
		t.Fatalf("a snapshot has %d entries of %d, %v", entries, n, err)
	}
	return sum
}

// TestOverlappingSnapshotsBoundMemory has a snapshot open at every moment, so that
// every segment is seen by one at the time it is compacted.
func TestOverlappingSnapshotsBoundMemory(t *testing.T) {
	n := uint64(100_000 / statecow.RaceFactor())
	alone := overlapping(t, statecow.Options{}, n, 0, 40, int(n/10))
	for _, keep := range []int{1, 4} {
		t.Run(fmt.Sprint("open=", keep), func(t *testing.T) {
			if peak := overlapping(t, statecow.Options{}, n, keep, 40, int(n/10)); peak > alone*int64(10+2*keep)/10 {
				t.Fatalf("%d bytes in use, %d with snapshots one after the other", peak, alone)
			}
		})
	}
}

// TestOverlappingSnapshotsOfATinyMap takes so many that their copies would fill the
// budget many times.
func TestOverlappingSnapshotsOfATinyMap(t *testing.T) {
	const n = 1000
	for _, o := range []statecow.Options{{Budget: 4 << 20}, {Budget: 64 << 20}} {
		peak := overlapping(t, o, n, 8, 1000/statecow.RaceFactor(), n)
		if limit := int64(4 << 20); peak > limit {
			t.Fatalf("with a budget of %d, %d bytes in use", o.Budget, peak)
		}
	}
}
