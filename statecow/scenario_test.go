package statecow

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
)

// heapMap returns a map whose memory the race detector watches.
func heapMap(t testing.TB, budget int64) *Map {
	t.Helper()
	m, err := New(Options{Budget: budget, SegmentSize: 64 << 10, heap: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestScenario13SnapshotDuringGrowthDeletesAndLateRegistration reads and writes
// snapshots in other goroutines while the owner grows the index, deletes, compacts
// and registers a new state: nothing that a snapshot reads may be shared with what
// the owner changes.
func TestScenario13SnapshotDuringGrowthDeletesAndLateRegistration(t *testing.T) {
	m := heapMap(t, 16<<20)
	states, err := NewStates(m, 128, zeroClock{})
	if err != nil {
		t.Fatal(err)
	}
	model := map[string]string{}
	rng := rand.New(rand.NewPCG(1, 13))
	var wg sync.WaitGroup
	for round := range 12 {
		s, _ := m.Snapshot()
		want := maps.Clone(model)
		wg.Add(2)
		var readers sync.WaitGroup
		readers.Add(2)
		go func() {
			defer wg.Done()
			readSnapshot(t, s, want)
			readers.Done()
		}()
		go func() {
			defer wg.Done()
			restoreSnapshot(t, s, want)
			readers.Done()
			readers.Wait()
			s.Release()
		}()
		late, err := NewValueState[string](states, fmt.Sprint("late", round), textCodec{}, TTL{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4000 {
			key := fmt.Appendf(nil, "key%d", rng.IntN(1500*(round+1)))
			states.SetKey(Hash(key), key)
			if i%3 == 0 {
				if err := late.Clear(); err != nil {
					t.Fatal(err)
				}
				delete(model, string(late.path))
			} else {
				v := fmt.Sprintf("%0*d", rng.IntN(60), i)
				if err := late.Set(v); err != nil {
					t.Fatal(err)
				}
				model[string(late.path)] = v
			}
		}
		if round%3 == 1 {
			m.Confirm(s.Mark())
		}
	}
	wg.Wait()
	checkIndex(t, m)
}

type zeroClock struct{}

func (zeroClock) Now(ExpiryClock) int64 { return 0 }

type textCodec struct{}

func (textCodec) Append(dst []byte, v string) []byte { return append(dst, v...) }
func (textCodec) Decode(src []byte) (string, error)  { return string(src), nil }
func (textCodec) Fingerprint() uint64                { return 1 }

func readSnapshot(t *testing.T, s Snapshot, want map[string]string) {
	got := map[string]string{}
	if err := s.Entries(0, func(e Entry) error { got[string(e.Key)] = string(e.Value); return nil }); err != nil {
		t.Error(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("snapshot has %d entries, want %d", len(got), len(want))
	}
}

func restoreSnapshot(t *testing.T, s Snapshot, want map[string]string) {
	var b bytes.Buffer
	if _, err := s.Write(&b, 0); err != nil {
		t.Error(err)
		return
	}
	m, err := New(Options{Budget: 32 << 20})
	if err != nil {
		t.Error(err)
		return
	}
	if err := m.Restore(&b); err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	_ = m.Range(m.opts.Groups, func(_ uint32, k, v []byte) bool { got[string(k)] = string(v); return true })
	if !maps.Equal(got, want) {
		t.Errorf("restored %d entries, want %d", len(got), len(want))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestReleasedSegmentsArePoisonedAndReused(t *testing.T) {
	m := heapMap(t, 8<<20)
	fill := func(n, round int) {
		for i := range n {
			key := fmt.Appendf(nil, "key%d", i)
			if err := m.Put(Hash(key), key, bytes.Repeat([]byte{byte(round)}, 50)); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(5000, 0)
	s, _ := m.Snapshot()
	fill(5000, 1)
	held := m.Stats()
	s.Release()
	for round := range 20 {
		fill(5000, round)
		s, _ := m.Snapshot()
		s.Release()
	}
	for more := true; more; more, _ = m.Maintain(100) {
	}
	after := m.Stats()
	if after.LogBytes > held.LogBytes+8*int64(m.segSize) || after.HeldBytes != 0 || after.Snapshots != 0 {
		t.Fatalf("%+v with a snapshot, %+v after", held, after)
	}
}
