package statecow

import (
	"math/rand/v2"
	"testing"
)

// TestProbeRunIsProbe compares them while the index grows and shrinks, for hashes that it has,
// that it has not, and that belong to others.
func TestProbeRunIsProbe(t *testing.T) {
	m, err := NewTyped[uint64, uint64](Options{MaxGroups: 4, Groups: Groups{First: 1, End: 3}, Budget: 16 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.m.Close()
	x, found, moving := &m.m.index, 0, 0
	compare := func() {
		hashes, got := make([]uint32, rand.IntN(probes+1)), make([]address, probes)
		for i := range hashes {
			hashes[i] = HashUint64(rand.Uint64N(20_000))
		}
		got = got[:len(hashes)]
		x.probeRun(hashes, got)
		for i, h := range hashes {
			_, want := x.probe(h)
			if got[i] != want {
				t.Fatalf("hash %#x is at %d, want %d", h, got[i], want)
			}
			if want != 0 {
				found++
			}
		}
		if x.n != x.target {
			moving++
		}
	}
	compare()
	for i := range uint64(20_000) {
		if x.owns(HashUint64(i)) {
			if err := m.Put(i, i); err != nil {
				t.Fatal(err)
			}
		}
		compare()
	}
	for i := range uint64(20_000) {
		if _, err := m.Delete(i); err != nil {
			t.Fatal(err)
		}
		compare()
	}
	if found < 1000 || moving < 1000 {
		t.Fatalf("it has found %d, and compared %d times while entries moved", found, moving)
	}
}
