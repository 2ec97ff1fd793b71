package statecow_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/overtake-stream/overtake/statecow"
)

func put(m *statecow.Map, i int, value []byte) error {
	key := fmt.Appendf(nil, "key%d", i)
	return m.Put(statecow.Hash(key), key, value)
}

func TestFullMapStaysUsableAndCanBeEmptied(t *testing.T) {
	for _, snapshots := range []bool{false, true} {
		t.Run(fmt.Sprint("snapshots=", snapshots), func(t *testing.T) {
			m := newTestMap(t, statecow.Options{Budget: 4 << 20})
			n := 0
			var err error
			for ; err == nil; n++ {
				err = put(m, n, make([]byte, 100))
				if snapshots && n == 2000 {
					s, _ := m.Snapshot()
					m.Confirm(s.Mark())
					s.Release()
				}
			}
			n--
			var budget *statecow.BudgetError
			if !errors.Is(err, statecow.ErrBudget) || !errors.As(err, &budget) || budget.Budget != 4<<20 {
				t.Fatalf("a full map says %v", err)
			}
			if m.Len() != n || m.Stats().MemoryBytes > 4<<20 || m.Stats().LiveBytes < 3<<20 {
				t.Fatalf("Len = %d after %d insertions: %+v", m.Len(), n, m.Stats())
			}
			for i := range n {
				key := fmt.Appendf(nil, "key%d", i)
				if v, ok, _ := m.Get(statecow.Hash(key), key); !ok || len(v) != 100 {
					t.Fatalf("key %d is gone", i)
				}
				if ok, err := m.Delete(statecow.Hash(key), key); !ok || err != nil {
					t.Fatalf("Delete = %v, %v", ok, err)
				}
			}
			for i := range n / 2 {
				if err := put(m, i, make([]byte, 100)); err != nil {
					t.Fatalf("an emptied map says %v", err)
				}
			}
		})
	}
}

func TestOpenSnapshotOfAFullMapIsReportedAndReleaseHelps(t *testing.T) {
	m := newTestMap(t, statecow.Options{Budget: 4 << 20})
	for i := range 15_000 {
		if err := put(m, i, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s, _ := m.Snapshot()
	for round := 0; err == nil && round < 10; round++ {
		for i := 0; err == nil && i < 15_000; i++ {
			err = put(m, i, make([]byte, 101+round*8))
		}
	}
	if !errors.Is(err, statecow.ErrBudget) {
		t.Fatalf("updates of twice the budget say %v", err)
	}
	n := 0
	if err := s.Entries(0, func(e statecow.Entry) error { n++; return nil }); err != nil || n != 15_000 {
		t.Fatalf("the snapshot has %d entries, %v", n, err)
	}
	s.Release()
	for i := range 15_000 {
		if err := put(m, i, make([]byte, 100)); err != nil {
			t.Fatalf("after the release: %v", err)
		}
	}
}

func TestCompactionBoundsTheLogAndGivesMemoryBack(t *testing.T) {
	m := newTestMap(t, statecow.Options{Budget: 256 << 20})
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	check := func(when string) {
		t.Helper()
		st := m.Stats()
		if slack := int64(8 * 256 << 10); st.LogBytes > 2*(st.LiveBytes+st.TombstoneBytes)+slack {
			t.Fatalf("%s: %+v", when, st)
		}
	}
	for i := range n {
		if err := put(m, i, make([]byte, 30)); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 10 {
		s, _ := m.Snapshot()
		if round%2 == 0 {
			m.Confirm(s.Mark())
		}
		s.Release()
		for range n {
			if err := put(m, rng.IntN(n), make([]byte, rng.IntN(60))); err != nil {
				t.Fatal(err)
			}
		}
		check(fmt.Sprint("round ", round))
	}
	peak := m.Stats().MemoryBytes
	for i := range n - 100 {
		key := fmt.Appendf(nil, "key%d", i)
		if _, err := m.Delete(statecow.Hash(key), key); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := m.Snapshot()
	m.Confirm(s.Mark())
	s.Release()
	for more := true; more; more, _ = m.Maintain(1000) {
	}
	if st := m.Stats(); st.MemoryBytes > 3<<20 || st.MemoryBytes > peak/4 || st.Keys != 100 {
		t.Fatalf("of %d bytes at the peak: %+v", peak, st)
	}
}

func TestIncrementsStaySmallUnderCompaction(t *testing.T) {
	m, err := statecow.NewTyped[uint64, uint64](statecow.Options{Budget: 64 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Map().Close()
	const n = 200_000
	for i := range uint64(n) {
		if err := m.Put(i, i); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	since := statecow.Mark(0)
	for round := range 60 {
		changed := map[uint64]bool{}
		for range n / 20 {
			k := rng.Uint64N(n)
			v, _, err := m.Upsert(k)
			if err != nil {
				t.Fatal(err)
			}
			*v++
			changed[k] = true
		}
		s, _ := m.Map().Snapshot()
		stats, err := s.Write(io.Discard, since)
		if err != nil {
			t.Fatal(err)
		}
		if limit := int64(len(changed)) * 16 * 13 / 10; round > 0 && stats.Bytes > limit {
			t.Fatalf("round %d: increment of %d bytes, want at most %d", round, stats.Bytes, limit)
		}
		m.Map().Confirm(s.Mark())
		since = s.Mark()
		s.Release()
	}
	if m.Map().Stats().Compacted == 0 {
		t.Fatal("nothing was compacted: the test shows nothing")
	}
}
